import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

T.ProgressBar {
    id: control

    property color color: Theme.accent

    implicitWidth: 120
    implicitHeight: 4

    contentItem: Item {
        Rectangle {
            width: control.visualPosition * parent.width
            height: parent.height
            radius: height / 2
            color: control.color
        }
    }
    background: Rectangle {
        radius: height / 2
        color: Theme.track
    }
}
