import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

// What failed, the numbers, one thing to do about it, and the details to copy.
Rectangle {
    id: root

    required property ErrorCard error

    visible: error.visible
    implicitHeight: visible ? column.implicitHeight + 2 * Theme.spacing : 0
    radius: Theme.radiusCard
    color: Theme.dangerSoft
    border.color: Theme.dangerLine

    Accessible.role: Accessible.AlertMessage
    Accessible.name: error.title

    Column {
        id: column

        anchors.fill: parent
        anchors.margins: Theme.spacing
        anchors.leftMargin: Theme.spacingLarge
        spacing: Theme.spacingSmall

        Text {
            width: parent.width - closeButton.width
            text: root.error.title
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            color: Theme.danger
            font.family: Theme.sansFamily
            font.pixelSize: Theme.uiSize
            font.weight: Font.DemiBold
        }
        SelectableText {
            width: parent.width
            visible: source !== ""
            source: root.error.message
            font.pixelSize: Theme.uiSize
        }
        Text {
            width: parent.width
            visible: text !== ""
            text: root.error.detail
            textFormat: Text.PlainText
            wrapMode: Text.WrapAnywhere
            maximumLineCount: 4
            elide: Text.ElideRight
            color: Theme.muted
            font.family: Theme.monoFamily
            font.pixelSize: Theme.captionSize
        }
        Flow {
            width: parent.width
            spacing: Theme.spacingSmall

            Button {
                visible: root.error.actionText !== ""
                text: root.error.actionText
                onClicked: root.error.trigger()
            }
            CopyButton {
                height: Theme.controlHeight
                label: qsTr("Copy details")
                onClicked: root.error.copyDetails()
            }
        }
    }

    IconButton {
        id: closeButton

        anchors.top: parent.top
        anchors.right: parent.right
        anchors.margins: Theme.spacingTiny
        iconName: "close"
        text: qsTr("Dismiss")
        onClicked: root.error.dismiss()
    }
}
