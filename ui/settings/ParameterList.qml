import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

Column {
    id: root

    required property ParameterModel parameters

    spacing: Theme.spacing

    Item {
        width: parent.width
        height: Theme.compactControlHeight

        Text {
            anchors.left: parent.left
            anchors.verticalCenter: parent.verticalCenter
            text: qsTr("Generation")
            textFormat: Text.PlainText
            color: Theme.text
            font.family: Theme.sansFamily
            font.pixelSize: Theme.uiSize
            font.weight: Font.DemiBold
        }
        Row {
            anchors.right: parent.right
            anchors.verticalCenter: parent.verticalCenter

            LinkButton {
                visible: root.parameters.canUndoReset
                text: qsTr("Undo reset")
                onClicked: root.parameters.undoReset()
            }
            LinkButton {
                visible: root.parameters.anyChanged
                text: qsTr("Reset all")
                onClicked: root.parameters.resetAll()
            }
        }
    }

    // Ids of this file, which only Qt 6.5 can bind for the components inside it.
    // qmllint disable unqualified
    Repeater {
        model: root.parameters

        Loader {
            id: entry

            required property string key
            required property string label
            required property string help
            required property real value
            required property real defaultValue
            required property real from
            required property real to
            required property real stepSize
            required property int decimals
            required property bool changed
            required property int kind

            width: root.width
            sourceComponent: kind === ParameterKind.Seed ? seedRow : parameterRow

            Component {
                id: parameterRow

                ParameterRow {
                    label: entry.label
                    help: entry.help
                    value: entry.value
                    defaultValue: entry.defaultValue
                    from: entry.from
                    to: entry.to
                    stepSize: entry.stepSize
                    decimals: entry.decimals
                    changed: entry.changed
                    onEdited: newValue => root.parameters.setValue(entry.key, newValue)
                    onResetRequested: root.parameters.reset(entry.key)
                }
            }
            Component {
                id: seedRow

                SeedRow {
                    label: entry.label
                    help: entry.help
                    value: entry.value
                    from: entry.from
                    to: entry.to
                    onEdited: newValue => root.parameters.setValue(entry.key, newValue)
                }
            }
        }
    }
    // qmllint enable unqualified

    Text {
        width: parent.width
        text: qsTr("Changes apply from the next answer")
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        color: Theme.muted
        font.family: Theme.sansFamily
        font.pixelSize: Theme.captionSize
    }
}
