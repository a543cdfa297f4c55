import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

// A conversation that has not begun: which model answers, how to get a bigger one, and something to try.
Flickable {
    id: root

    required property ModelBox modelBox

    signal promptChosen(string text)
    signal chooseFolderRequested()

    readonly property var examplePrompts: modelBox.isGuideModel
        ? [qsTr("What can you do?"), qsTr("What is a token?"), qsTr("How do I load ChatGLM2-6B?")]
        : [qsTr("Explain quantum entanglement in three sentences."), qsTr("Write a short poem about the sea."),
           qsTr("Write a Python function that tells whether a number is prime.")]

    contentHeight: Math.max(height, column.implicitHeight + 2 * Theme.spacingHuge)
    boundsBehavior: Flickable.StopAtBounds
    clip: true

    ScrollBar.vertical: ScrollBar {}

    Column {
        id: column

        anchors.centerIn: parent
        width: Math.min(520, root.width - 2 * Theme.spacingHuge)
        spacing: Theme.spacingLarge

        Text {
            width: parent.width
            text: root.modelBox.loaded ? qsTr("Start a conversation")
                : root.modelBox.loading ? qsTr("The model is being loaded") : qsTr("No model yet")
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            color: Theme.text
            font.family: Theme.sansFamily
            font.pixelSize: Theme.headlineSize
            font.weight: Font.DemiBold
        }

        Text {
            width: parent.width
            text: root.modelBox.loading
                ? qsTr("You can already write; the message can be sent when the model is ready.")
                : root.modelBox.loaded && !root.modelBox.isGuideModel
                ? qsTr("%1 runs on this machine. Nothing you write leaves it.").arg(root.modelBox.modelName)
                : root.modelBox.loaded
                ? qsTr("This is a small built-in model for trying things out. It knows little and often gets things wrong.")
                : qsTr("Choose a model folder, or use the small built-in model to try things out.")
            textFormat: Text.PlainText
            wrapMode: Text.Wrap
            lineHeight: 1.1
            color: Theme.muted
            font.family: Theme.sansFamily
            font.pixelSize: Theme.messageSize
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
            Row {
                width: parent.width
                spacing: Theme.spacing

                Text {
                    height: Theme.controlHeight
                    verticalAlignment: Text.AlignVCenter
                    text: root.modelBox.progressText
                    textFormat: Text.PlainText
                    color: Theme.muted
                    font.family: Theme.sansFamily
                    font.pixelSize: Theme.captionSize
                }
                Button {
                    text: qsTr("Cancel")
                    Accessible.name: qsTr("Cancel loading")
                    onClicked: root.modelBox.cancel()
                }
            }
        }

        Card {
            width: parent.width
            visible: !root.modelBox.loading && (root.modelBox.isGuideModel || !root.modelBox.loaded)
            padding: Theme.spacingLarge

            Text {
                width: parent.width
                text: qsTr("To talk to ChatGLM2-6B")
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                color: Theme.text
                font.family: Theme.sansFamily
                font.pixelSize: Theme.uiSize
                font.weight: Font.DemiBold
            }
            Text {
                width: parent.width
                text: qsTr("Download the model folder THUDM/chatglm2-6b from Hugging Face or ModelScope (about 12 GB; the int4 "
                           + "version about 4 GB). It holds config.json, tokenizer.model and the weight files. Then choose that "
                           + "folder, or drop it on this window.")
                textFormat: Text.PlainText
                wrapMode: Text.Wrap
                lineHeight: 1.1
                color: Theme.muted
                font.family: Theme.sansFamily
                font.pixelSize: Theme.uiSize - 1
            }
            Flow {
                width: parent.width
                spacing: Theme.spacingSmall

                Button {
                    text: qsTr("Choose folder…")
                    iconName: "folder"
                    onClicked: root.chooseFolderRequested()
                }
                Button {
                    visible: !root.modelBox.loaded
                    text: qsTr("Use the built-in model")
                    onClicked: root.modelBox.loadGuideModel()
                }
            }
        }

        Column {
            width: parent.width
            visible: root.modelBox.loaded
            spacing: Theme.spacingSmall

            Text {
                text: qsTr("Something to try")
                textFormat: Text.PlainText
                color: Theme.muted
                font.family: Theme.sansFamily
                font.pixelSize: Theme.captionSize
            }
            Flow {
                width: parent.width
                spacing: Theme.spacingSmall

                // Ids of this file, which only Qt 6.5 can bind for the components inside it.
                // qmllint disable unqualified
                Repeater {
                    model: root.examplePrompts

                    Button {
                        id: example

                        required property string modelData

                        width: Math.min(implicitWidth, parent.width)
                        text: modelData
                        onClicked: root.promptChosen(example.modelData)
                    }
                }
                // qmllint enable unqualified
            }
        }
    }
}
