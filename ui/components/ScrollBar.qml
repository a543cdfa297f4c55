import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

T.ScrollBar {
    id: control

    implicitWidth: 12
    implicitHeight: 12
    padding: 3
    minimumSize: 0.06
    visible: policy !== T.ScrollBar.AlwaysOff && size < 1

    contentItem: Rectangle {
        implicitWidth: 6
        implicitHeight: 6
        radius: 3
        color: control.pressed || control.hovered ? Theme.muted : Theme.lineStrong
        opacity: control.pressed || control.hovered || control.active ? 1 : 0.45

        Behavior on opacity {
            NumberAnimation {
                duration: Theme.motionShort
            }
        }
    }
}
