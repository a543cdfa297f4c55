import QtQuick
import GlmChat.Theme
import GlmChat.Components

// Code: never wrapped, always left to right, scrolled sideways where it is wider than the column.
Rectangle {
    id: root

    required property string source
    required property string language
    property bool growing: false

    signal copyRequested(string text)

    implicitHeight: head.height + codeArea.height
    color: Theme.code
    radius: Theme.radiusCard
    border.color: Theme.line

    Item {
        id: head

        width: parent.width
        height: Theme.compactControlHeight + Theme.spacingTiny

        Text {
            anchors.left: parent.left
            anchors.right: copyButton.left
            anchors.leftMargin: Theme.spacing + 2
            anchors.verticalCenter: parent.verticalCenter
            text: root.language !== "" ? root.language : qsTr("code")
            textFormat: Text.PlainText
            elide: Text.ElideRight
            color: Theme.muted
            font.family: Theme.sansFamily
            font.pixelSize: Theme.captionSize
        }
        CopyButton {
            id: copyButton

            anchors.right: parent.right
            anchors.rightMargin: Theme.spacingTiny + 2
            anchors.verticalCenter: parent.verticalCenter
            Accessible.name: qsTr("Copy code")
            onClicked: root.copyRequested(root.source)
        }
        Rectangle {
            anchors.bottom: parent.bottom
            x: 1
            width: parent.width - 2
            height: 1
            color: Theme.line
        }
    }

    Flickable {
        id: codeArea

        anchors.top: head.bottom
        width: parent.width
        height: body.implicitHeight + 2 * Theme.spacing
        contentWidth: body.implicitWidth + 2 * body.x + Theme.spacing
        contentHeight: height
        clip: contentWidth > width
        flickableDirection: Flickable.HorizontalFlick
        boundsBehavior: Flickable.StopAtBounds
        interactive: contentWidth > width

        ScrollBar.horizontal: ScrollBar {}

        SelectableText {
            id: body

            x: Theme.spacing + 2
            y: Theme.spacing
            source: root.source
            wrapMode: TextEdit.NoWrap
            horizontalAlignment: TextEdit.AlignLeft
            font.family: Theme.monoFamily
            font.pixelSize: Theme.codeSize
            tabStopDistance: 4 * spaceWidth.advanceWidth
        }
        StreamCaret {
            visible: root.growing
            textItem: body
        }
    }

    TextMetrics {
        id: spaceWidth
        font: body.font
        text: " "
    }
}
