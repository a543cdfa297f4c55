import QtQuick
import GlmChat.Theme

// Says "Copied" for a moment after a click, without changing its width.
LinkButton {
    id: control

    property string label: qsTr("Copy")
    property bool copied: false

    readonly property string copiedLabel: qsTr("Copied")

    implicitWidth: Math.ceil(Math.max(labelMetrics.advanceWidth, copiedMetrics.advanceWidth)) + leftPadding + rightPadding
    text: copied ? copiedLabel : label

    onClicked: {
        copied = true
        copiedTimer.restart()
    }

    TextMetrics {
        id: labelMetrics
        font: control.font
        text: control.label
    }
    TextMetrics {
        id: copiedMetrics
        font: control.font
        text: control.copiedLabel
    }
    Timer {
        id: copiedTimer
        interval: 1500
        onTriggered: control.copied = false
    }
}
