import QtQuick
import GlmChat.Theme

// Over the whole window while a folder that can be loaded is held above it.
Rectangle {
    id: root

    property bool shown: false

    visible: opacity > 0
    opacity: shown ? 1 : 0
    color: Theme.scrim

    Behavior on opacity {
        NumberAnimation {
            duration: Theme.motionShort
            easing.type: Easing.OutQuad
        }
    }

    Rectangle {
        anchors.centerIn: parent
        width: Math.min(parent.width - 2 * Theme.spacingHuge, hint.implicitWidth + 4 * Theme.spacingHuge)
        height: hint.height + 4 * Theme.spacingHuge
        radius: Theme.radiusBubble
        color: Theme.surface
        border.width: 2
        border.color: Theme.accent

        Text {
            id: hint

            anchors.centerIn: parent
            width: Math.min(implicitWidth, root.width - 6 * Theme.spacingHuge)
            text: qsTr("Drop the folder to load its model")
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            horizontalAlignment: Text.AlignHCenter
            color: Theme.text
            font.family: Theme.sansFamily
            font.pixelSize: Theme.titleSize
            font.weight: Font.DemiBold
        }
    }
}
