import QtQuick
import GlmChat.Theme

// The outline of the control that has the keyboard. Lies around its parent, takes no space.
Rectangle {
    property bool shown: false

    anchors.fill: parent
    anchors.margins: -3
    visible: shown
    color: "transparent"
    radius: Theme.radius + 3
    border.width: 2
    border.color: Theme.accent
}
