import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

T.Switch {
    id: control

    implicitWidth: implicitContentWidth + spacing + indicator.implicitWidth
    implicitHeight: Theme.compactControlHeight
    spacing: Theme.spacingSmall
    focusPolicy: Qt.StrongFocus
    font.family: Theme.sansFamily
    font.pixelSize: Theme.uiSize

    Accessible.name: text

    indicator: Rectangle {
        x: control.width - width
        y: (control.height - height) / 2
        implicitWidth: Math.round(34 * Theme.fontScale)
        implicitHeight: Math.round(20 * Theme.fontScale)
        radius: height / 2
        color: control.checked ? Theme.accent : Theme.track

        Rectangle {
            x: 3 + control.visualPosition * (parent.width - width - 6)
            y: 3
            width: parent.height - 6
            height: width
            radius: width / 2
            color: control.checked ? Theme.accentContrast : Theme.surface

            Behavior on x {
                enabled: !control.pressed
                NumberAnimation {
                    duration: Theme.motionShort
                    easing.type: Easing.OutQuad
                }
            }
        }

        FocusRing {
            radius: height / 2
            shown: control.visualFocus
        }
    }

    contentItem: Text {
        rightPadding: control.indicator.width + control.spacing
        text: control.text
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        verticalAlignment: Text.AlignVCenter
        color: Theme.text
        font: control.font
    }
}
