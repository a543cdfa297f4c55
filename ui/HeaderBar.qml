import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

Item {
    id: root

    required property ModelBox modelBox
    required property bool panelShown

    signal newChatRequested()
    signal panelToggleRequested()

    implicitHeight: Math.round(52 * Theme.fontScale)

    Row {
        anchors.left: parent.left
        anchors.right: buttons.left
        anchors.leftMargin: Theme.spacingLarge
        anchors.rightMargin: Theme.spacing
        anchors.verticalCenter: parent.verticalCenter
        spacing: Theme.spacingSmall + 2

        Rectangle {
            id: mark

            anchors.verticalCenter: parent.verticalCenter
            width: Math.round(26 * Theme.fontScale)
            height: width
            radius: Theme.radiusSmall
            color: Theme.accent

            Text {
                anchors.centerIn: parent
                text: "G"
                color: Theme.accentContrast
                font.family: Theme.sansFamily
                font.pixelSize: Theme.uiSize
                font.weight: Font.Bold
            }
        }
        Text {
            id: title

            anchors.verticalCenter: parent.verticalCenter
            text: "glmchat"
            color: Theme.text
            font.family: Theme.sansFamily
            font.pixelSize: Theme.titleSize
            font.weight: Font.DemiBold
        }
        Text {
            width: Math.max(0, parent.width - mark.width - title.width - 2 * parent.spacing)
            anchors.baseline: title.baseline
            text: root.modelBox.modelName
            textFormat: Text.PlainText
            elide: Text.ElideRight
            color: Theme.muted
            font.family: Theme.sansFamily
            font.pixelSize: Theme.uiSize - 1
        }
    }

    Row {
        id: buttons

        anchors.right: parent.right
        anchors.rightMargin: Theme.spacing
        anchors.verticalCenter: parent.verticalCenter
        spacing: Theme.spacingTiny

        Button {
            iconName: "new-chat"
            text: qsTr("New chat")
            toolTip: qsTr("Ctrl+N")
            onClicked: root.newChatRequested()
        }
        IconButton {
            iconName: "panel"
            checked: root.panelShown
            text: root.panelShown ? qsTr("Hide the side panel") : qsTr("Show the side panel")
            toolTip: qsTr("%1 (Ctrl+,)").arg(text)
            onClicked: root.panelToggleRequested()
        }
    }

    Rectangle {
        anchors.bottom: parent.bottom
        width: parent.width
        height: 1
        color: Theme.line
    }
}
