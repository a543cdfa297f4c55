import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

// A button that is only a drawing; `text` is what screen readers and the tool tip say.
T.Button {
    id: control

    required property string iconName
    property string toolTip: text

    implicitWidth: Theme.controlHeight
    implicitHeight: Theme.controlHeight
    focusPolicy: Qt.StrongFocus

    Accessible.name: text

    contentItem: Item {
        Icon {
            anchors.centerIn: parent
            name: control.iconName
            color: !control.enabled ? Theme.lineStrong : control.checked ? Theme.accentText : Theme.text
        }
    }

    background: Rectangle {
        radius: Theme.radius
        color: control.down || control.hovered ? Theme.hover : "transparent"

        FocusRing {
            shown: control.visualFocus
        }
    }

    Keys.onReturnPressed: control.clicked()
    Keys.onEnterPressed: control.clicked()

    ToolTip {
        text: control.toolTip
        visible: control.toolTip !== "" && (control.hovered || control.visualFocus)
    }
}
