import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

// A quiet action in running text: "Copy", "Reset all".
T.Button {
    id: control

    implicitWidth: Math.ceil(implicitContentWidth) + leftPadding + rightPadding
    implicitHeight: Theme.compactControlHeight
    horizontalPadding: Theme.spacingTiny + 2
    focusPolicy: Qt.StrongFocus
    font.family: Theme.sansFamily
    font.pixelSize: Theme.captionSize

    Accessible.name: text

    contentItem: Text {
        text: control.text
        textFormat: Text.PlainText
        verticalAlignment: Text.AlignVCenter
        color: control.hovered || control.visualFocus ? Theme.text : Theme.muted
        font: control.font
    }

    background: Rectangle {
        radius: Theme.radiusSmall
        color: control.down || control.hovered ? Theme.hover : "transparent"

        FocusRing {
            anchors.margins: -1
            radius: Theme.radiusSmall + 1
            shown: control.visualFocus
        }
    }

    Keys.onReturnPressed: control.clicked()
    Keys.onEnterPressed: control.clicked()
}
