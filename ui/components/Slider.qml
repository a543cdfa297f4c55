import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

// A slider with a tick at the default. It never reacts to the wheel, which belongs to the panel that scrolls under it.
T.Slider {
    id: control

    property real defaultValue: from

    // What assistive tools ask for, by these names.
    readonly property real minimumValue: from
    readonly property real maximumValue: to

    implicitWidth: 160
    implicitHeight: Math.round(24 * Theme.fontScale)
    padding: 0
    live: true
    snapMode: T.Slider.SnapAlways
    wheelEnabled: false
    focusPolicy: Qt.StrongFocus

    Accessible.onIncreaseAction: {
        increase()
        moved()
    }
    Accessible.onDecreaseAction: {
        decrease()
        moved()
    }

    background: Item {
        Rectangle {
            anchors.verticalCenter: parent.verticalCenter
            width: parent.width
            height: 4
            radius: 2
            color: Theme.track

            Rectangle {
                width: control.handle.x + control.handle.width / 2
                height: parent.height
                radius: 2
                color: Theme.accent
                opacity: control.enabled ? 1 : 0.5
            }
        }

        Rectangle {
            readonly property real fraction: control.to > control.from
                ? (control.defaultValue - control.from) / (control.to - control.from) : 0

            x: Math.round(fraction * (control.width - control.handle.width) + control.handle.width / 2 - width / 2)
            y: Math.round(parent.height / 2 + 5)
            width: 2
            height: 5
            radius: 1
            color: Theme.lineStrong
        }
    }

    handle: Rectangle {
        x: control.visualPosition * (control.width - width)
        y: (control.height - height) / 2
        implicitWidth: Math.round(16 * Theme.fontScale)
        implicitHeight: implicitWidth
        radius: width / 2
        color: Theme.surface
        border.width: 2
        border.color: Theme.accent

        FocusRing {
            radius: width / 2
            shown: control.visualFocus
        }
    }
}
