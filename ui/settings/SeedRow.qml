import QtQuick
import GlmChat.Theme
import GlmChat.Components

// The seed: -1 stands for a new one for each answer.
LabelledRow {
    id: root

    required property string help
    required property real value
    required property real from
    required property real to

    readonly property bool random: value < 0

    signal edited(real newValue)

    Row {
        spacing: Theme.spacingTiny

        NumberField {
            width: Math.round(104 * Theme.fontScale)
            value: root.value
            from: -1
            to: root.to
            specialText: qsTr("Random")
            Accessible.name: root.label
            Accessible.description: root.help
            onEdited: newValue => root.edited(newValue)
        }
        IconButton {
            width: Theme.compactControlHeight
            height: Theme.compactControlHeight
            iconName: "dice"
            enabled: !root.random
            text: qsTr("Random seed")
            toolTip: qsTr("A new seed for each answer")
            onClicked: root.edited(-1)
        }
    }
}
