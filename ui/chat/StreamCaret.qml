import QtQuick
import GlmChat.Theme
import GlmChat.Components

// The block at the end of an answer that is being written.
Rectangle {
    id: root

    required property SelectableText textItem

    readonly property rect place: {
        if (!visible)
            return Qt.rect(0, 0, 0, 0)
        textItem.shown  // what the place follows: the text and how it wraps
        textItem.width
        textItem.contentHeight
        return textItem.positionToRectangle(textItem.length)
    }

    x: textItem.x + place.x + 1
    y: textItem.y + place.y + (place.height - height) / 2
    width: Math.round(8 * Theme.fontScale)
    height: Math.round(16 * Theme.fontScale)
    radius: 1
    color: Theme.accent
}
