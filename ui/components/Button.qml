import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

// A button with a label and, where `iconName` is set, a drawing before it.
T.Button {
    id: control

    property bool primary: false
    property string iconName: ""
    property string toolTip: ""

    readonly property color foreground: !enabled ? Theme.muted : primary ? Theme.accentContrast : Theme.text
    readonly property real iconSpace: iconName !== "" ? Math.round(16 * Theme.fontScale) + Theme.spacingSmall : 0

    implicitWidth: Math.ceil(implicitContentWidth) + leftPadding + rightPadding
    implicitHeight: Theme.controlHeight
    horizontalPadding: Theme.spacing
    focusPolicy: Qt.StrongFocus
    font.family: Theme.sansFamily
    font.pixelSize: Theme.uiSize

    Accessible.name: text
    Accessible.description: toolTip

    contentItem: Text {
        leftPadding: control.iconSpace
        text: control.text
        textFormat: Text.PlainText
        horizontalAlignment: Text.AlignHCenter
        verticalAlignment: Text.AlignVCenter
        elide: Text.ElideRight
        color: control.foreground
        font: control.font
    }

    Icon {
        x: control.leftPadding + Math.max(0, (control.availableWidth - control.implicitContentWidth) / 2)
        anchors.verticalCenter: parent.verticalCenter
        visible: name !== ""
        name: control.iconName
        color: control.foreground
    }

    background: Rectangle {
        radius: Theme.radius
        color: !control.enabled ? (control.primary ? Theme.hover : "transparent")
             : control.primary ? (control.down ? Qt.darker(Theme.accent, 1.15) : Theme.accent)
             : control.down || control.hovered ? Theme.hover : Theme.surface
        border.width: control.primary ? 0 : 1
        border.color: Theme.line

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
