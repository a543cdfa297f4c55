import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

// A button with a label and, where `iconName` is set, a drawing before it.
T.Button {
    id: control

    property bool primary: false
    property string iconName: ""
    property string toolTip: ""

    readonly property color foreground: primary ? Theme.accentContrast : Theme.text

    implicitWidth: Math.ceil(implicitContentWidth) + leftPadding + rightPadding
    implicitHeight: Theme.controlHeight
    horizontalPadding: Theme.spacing
    focusPolicy: Qt.StrongFocus
    opacity: enabled ? 1 : 0.5
    font.family: Theme.sansFamily
    font.pixelSize: Theme.uiSize

    Accessible.name: text
    Accessible.description: toolTip

    contentItem: Item {
        id: face

        readonly property real iconSpace: icon.active ? icon.width + row.spacing : 0

        implicitWidth: iconSpace + Math.ceil(label.implicitWidth)
        implicitHeight: label.implicitHeight

        Row {
            id: row

            anchors.centerIn: parent
            spacing: Theme.spacingSmall

            Loader {
                id: icon

                anchors.verticalCenter: parent.verticalCenter
                active: control.iconName !== ""
                visible: active
                sourceComponent: Icon {
                    name: control.iconName
                    color: control.foreground
                }
            }
            Text {
                id: label

                width: Math.min(Math.ceil(implicitWidth), face.width - face.iconSpace)
                text: control.text
                textFormat: Text.PlainText
                elide: Text.ElideRight
                color: control.foreground
                font: control.font
            }
        }
    }

    background: Rectangle {
        radius: Theme.radius
        color: control.primary ? (control.down ? Qt.darker(Theme.accent, 1.15) : Theme.accent)
                               : control.down || control.hovered ? Theme.hover : Theme.surface
        border.width: control.primary ? 0 : 1
        border.color: Theme.line

        FocusRing {
            shown: control.visualFocus
        }
    }

    Keys.onReturnPressed: click()
    Keys.onEnterPressed: click()

    ToolTip {
        text: control.toolTip
        visible: control.toolTip !== "" && (control.hovered || control.visualFocus)
    }
}
