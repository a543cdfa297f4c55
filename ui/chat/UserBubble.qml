import QtQuick
import GlmChat.Theme
import GlmChat.Components

// What the user wrote, to the letter.
Item {
    id: root

    required property string source

    readonly property real maximumTextWidth: width * 0.85 - 2 * Theme.spacingLarge

    implicitHeight: bubble.height

    Rectangle {
        id: bubble

        anchors.right: parent.right
        width: body.width + 2 * Theme.spacingLarge
        height: body.height + 2 * (Theme.spacingSmall + 2)
        radius: Theme.radiusBubble
        color: Theme.bubble

        SelectableText {
            id: body

            x: Theme.spacingLarge
            y: Theme.spacingSmall + 2
            width: Math.min(Math.ceil(implicitWidth), root.maximumTextWidth)
            source: root.source
        }
    }
}
