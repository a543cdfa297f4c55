import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

// The model: what it is, where it runs, how loading gets on, and how to change it.
Card {
    id: root

    required property ModelBox modelBox

    readonly property string summary: {
        if (!modelBox.loaded)
            return modelBox.loading ? "" : modelBox.status
        const parts = []
        parts.push(modelBox.deviceName, modelBox.precisionName, modelBox.memoryText)
        return parts.filter(part => part !== "").join(" · ")
    }

    signal chooseFolderRequested()

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Model")

    Row {
        width: parent.width
        spacing: Theme.spacingSmall

        Rectangle {
            id: stateDot

            anchors.verticalCenter: nameText.verticalCenter
            width: 8
            height: 8
            radius: 4
            color: root.modelBox.loaded ? Theme.good : root.modelBox.loading ? Theme.accent : Theme.lineStrong
        }
        Text {
            id: nameText

            width: parent.width - stateDot.width - parent.spacing
            text: root.modelBox.modelName !== "" ? root.modelBox.modelName : qsTr("No model")
            textFormat: Text.PlainText
            elide: Text.ElideMiddle
            color: Theme.text
            font.family: Theme.sansFamily
            font.pixelSize: Theme.uiSize
            font.weight: Font.DemiBold
        }
    }

    Text {
        width: parent.width
        visible: text !== ""
        text: root.summary
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        color: Theme.muted
        font.family: Theme.sansFamily
        font.pixelSize: Theme.captionSize
    }

    Text {
        id: folderText

        width: parent.width
        visible: text !== "" && !root.modelBox.isGuideModel
        text: root.modelBox.folder
        textFormat: Text.PlainText
        elide: Text.ElideMiddle
        color: Theme.muted
        font.family: Theme.sansFamily
        font.pixelSize: Theme.captionSize

        HoverHandler {
            id: folderHover
        }
        ToolTip {
            text: folderText.text
            visible: folderHover.hovered && folderText.truncated
        }
    }

    Column {
        width: parent.width
        visible: root.modelBox.loading
        spacing: Theme.spacingSmall

        ProgressBar {
            width: parent.width
            value: root.modelBox.progress
            Accessible.name: qsTr("Loading progress")
        }
        Item {
            width: parent.width
            height: cancelButton.height

            Text {
                anchors.verticalCenter: parent.verticalCenter
                width: parent.width - cancelButton.width - Theme.spacingSmall
                text: root.modelBox.elapsedSeconds > 0
                    ? qsTr("%1 · %2 s").arg(root.modelBox.progressText).arg(root.modelBox.elapsedSeconds)
                    : root.modelBox.progressText
                textFormat: Text.PlainText
                elide: Text.ElideRight
                color: Theme.muted
                font.family: Theme.sansFamily
                font.pixelSize: Theme.captionSize
            }
            Button {
                id: cancelButton

                anchors.right: parent.right
                height: Theme.compactControlHeight
                text: qsTr("Cancel")
                Accessible.name: qsTr("Cancel loading")
                onClicked: root.modelBox.cancel()
            }
        }
    }

    Button {
        width: parent.width
        iconName: "folder"
        text: qsTr("Choose folder…")
        enabled: !root.modelBox.loading
        onClicked: root.chooseFolderRequested()
    }

    Flow {
        width: parent.width
        visible: !root.modelBox.loading
        spacing: Theme.spacingTiny

        LinkButton {
            visible: !(root.modelBox.loaded && root.modelBox.isGuideModel)
            text: qsTr("Use the built-in model")
            onClicked: root.modelBox.loadGuideModel()
        }
        LinkButton {
            visible: root.modelBox.loaded
            text: qsTr("Unload")
            Accessible.name: qsTr("Unload the model")
            onClicked: root.modelBox.unload()
        }
    }

    Rectangle {
        width: parent.width
        height: 1
        color: Theme.line
    }

    LabelledRow {
        width: parent.width
        label: qsTr("Device")

        ComboBox {
            Accessible.name: qsTr("Device")
            model: root.modelBox.deviceNames
            selectedIndex: root.modelBox.device
            enabled: !root.modelBox.loading
            onActivated: index => root.modelBox.device = index
        }
    }
    LabelledRow {
        width: parent.width
        label: qsTr("Precision")

        ComboBox {
            Accessible.name: qsTr("Precision")
            model: root.modelBox.precisionNames
            selectedIndex: root.modelBox.precision
            enabled: !root.modelBox.loading
            onActivated: index => root.modelBox.precision = index
        }
    }
    Text {
        width: parent.width
        visible: text !== ""
        text: root.modelBox.deviceNote
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        color: Theme.muted
        font.family: Theme.sansFamily
        font.pixelSize: Theme.captionSize
    }
}
