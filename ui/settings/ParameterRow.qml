import QtQuick
import GlmChat.Theme
import GlmChat.Components

// One generation parameter: label, reset mark where it was changed, exact value, and a slider with the default as a tick.
Column {
    id: root

    required property string label
    required property string help
    required property real value
    required property real defaultValue
    required property real from
    required property real to
    required property real stepSize
    required property int decimals
    required property bool changed

    signal edited(real newValue)
    signal resetRequested()

    Item {
        width: parent.width
        height: Theme.compactControlHeight

        Text {
            id: labelText

            anchors.left: parent.left
            anchors.verticalCenter: parent.verticalCenter
            width: Math.min(implicitWidth, field.x - resetButton.width - Theme.spacingTiny)
            text: root.label
            textFormat: Text.PlainText
            elide: Text.ElideRight
            color: Theme.text
            font.family: Theme.sansFamily
            font.pixelSize: Theme.uiSize - 1

            HoverHandler {
                id: labelHover
            }
            ToolTip {
                text: root.help
                visible: root.help !== "" && labelHover.hovered
            }
        }
        IconButton {
            id: resetButton

            anchors.left: labelText.right
            anchors.leftMargin: Theme.spacingTiny
            anchors.verticalCenter: parent.verticalCenter
            width: Math.round(24 * Theme.fontScale)
            height: width
            visible: root.changed
            iconName: "reset"
            checked: true
            text: qsTr("Reset %1").arg(root.label)
            toolTip: qsTr("Reset to the default")
            onClicked: root.resetRequested()
        }
        NumberField {
            id: field

            anchors.right: parent.right
            anchors.verticalCenter: parent.verticalCenter
            value: root.value
            from: root.from
            to: root.to
            stepSize: root.stepSize
            decimals: root.decimals
            Accessible.name: root.label
            Accessible.description: root.help
            onEdited: newValue => root.edited(newValue)
        }
    }

    Slider {
        width: parent.width
        from: root.from
        to: root.to
        stepSize: root.stepSize
        value: root.value
        defaultValue: root.defaultValue
        Accessible.name: root.label
        Accessible.description: root.help
        onMoved: root.edited(value)
    }
}
