import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

// One line: state, device, precision, speed, and how much of the context is used.
Item {
    id: root

    required property ChatSession session
    required property ModelBox modelBox

    readonly property real contextFraction: session.contextLimit > 0 ? session.contextUsed / session.contextLimit : 0
    readonly property bool wide: width >= 560

    readonly property color stateColor: {
        switch (session.state) {
        case EngineState.Ready:
            return Theme.good
        case EngineState.Failed:
            return Theme.danger
        case EngineState.NoModel:
            return Theme.lineStrong
        default:
            return Theme.accent
        }
    }

    readonly property string details: {
        const parts = []
        if (modelBox.loaded)
            parts.push(modelBox.deviceName, modelBox.precisionName)
        if (session.tokensPerSecond > 0)
            parts.push(qsTr("%1 tokens/s").arg(session.tokensPerSecond.toLocaleString(Qt.locale(), "f", 1)))
        return parts.filter(part => part !== "").join(" · ")
    }

    implicitHeight: Math.round(30 * Theme.fontScale)

    Rectangle {
        id: dot

        anchors.left: parent.left
        anchors.leftMargin: Theme.spacingLarge
        anchors.verticalCenter: parent.verticalCenter
        width: 7
        height: 7
        radius: 3.5
        color: root.stateColor
    }
    Text {
        anchors.left: dot.right
        anchors.right: context.left
        anchors.leftMargin: Theme.spacingSmall
        anchors.rightMargin: Theme.spacing
        anchors.verticalCenter: parent.verticalCenter
        text: root.wide && root.details !== "" ? root.session.stateText + " · " + root.details : root.session.stateText
        textFormat: Text.PlainText
        elide: Text.ElideRight
        color: Theme.muted
        font.family: Theme.sansFamily
        font.pixelSize: Theme.captionSize
        Accessible.role: Accessible.StatusBar
        Accessible.name: text
    }

    Row {
        id: context

        anchors.right: parent.right
        anchors.rightMargin: Theme.spacingLarge
        anchors.verticalCenter: parent.verticalCenter
        visible: root.session.contextLimit > 0
        spacing: Theme.spacingSmall

        Text {
            anchors.verticalCenter: parent.verticalCenter
            visible: root.session.droppedRounds > 0
            text: qsTr("%n oldest round(s) no longer sent", "", root.session.droppedRounds)
            textFormat: Text.PlainText
            color: Theme.warning
            font.family: Theme.sansFamily
            font.pixelSize: Theme.captionSize
        }
        Text {
            anchors.verticalCenter: parent.verticalCenter
            visible: root.wide || root.session.droppedRounds === 0
            text: qsTr("context %1 / %2").arg(root.session.contextUsed.toLocaleString(Qt.locale(), "f", 0))
                                         .arg(root.session.contextLimit.toLocaleString(Qt.locale(), "f", 0))
            textFormat: Text.PlainText
            color: root.contextFraction > 0.9 ? Theme.warning : Theme.muted
            font.family: Theme.sansFamily
            font.pixelSize: Theme.captionSize
        }
        ProgressBar {
            anchors.verticalCenter: parent.verticalCenter
            width: root.wide ? 96 : 48
            value: root.contextFraction
            color: root.contextFraction > 0.9 ? Theme.warning : Theme.accent
            Accessible.name: qsTr("Context used")
        }
    }
}
