import QtQuick
import GlmChat.Theme
import GlmChat.Components

// Under an answer: why it ended, its numbers, and what can be done with it. The actions show on hover and on focus; their
// place is always kept, so nothing moves.
Item {
    id: root

    required property string statusText
    required property string captionText
    required property bool finished
    required property bool canCopy
    required property bool canRegenerate
    required property bool hovered
    property bool retry: false
    property real topMargin: 0

    signal copyRequested()
    signal regenerateRequested()

    readonly property bool actionsShown: finished && (hovered || retry || copyButton.activeFocus || regenerateButton.activeFocus)

    implicitHeight: topMargin + flow.implicitHeight

    Flow {
        id: flow

        y: root.topMargin
        width: parent.width

        Text {
            height: Theme.compactControlHeight
            rightPadding: Theme.spacingSmall
            visible: root.statusText !== ""
            text: root.statusText
            textFormat: Text.PlainText
            verticalAlignment: Text.AlignVCenter
            color: Theme.warning
            font.family: Theme.sansFamily
            font.pixelSize: Theme.captionSize
        }
        Text {
            height: Theme.compactControlHeight
            rightPadding: Theme.spacingSmall
            visible: root.captionText !== ""
            text: root.captionText
            textFormat: Text.PlainText
            verticalAlignment: Text.AlignVCenter
            color: Theme.muted
            font.family: Theme.sansFamily
            font.pixelSize: Theme.captionSize
        }
        Row {
            height: Theme.compactControlHeight
            leftPadding: root.statusText === "" && root.captionText === "" ? -Theme.spacingTiny - 2 : 0
            opacity: root.actionsShown ? 1 : 0

            Behavior on opacity {
                NumberAnimation {
                    duration: Theme.motionShort
                    easing.type: Easing.OutQuad
                }
            }

            CopyButton {
                id: copyButton

                visible: root.finished && root.canCopy
                Accessible.name: qsTr("Copy answer")
                onClicked: root.copyRequested()
            }
            LinkButton {
                id: regenerateButton

                visible: root.finished && root.canRegenerate
                text: root.retry ? qsTr("Try again") : qsTr("Regenerate")
                onClicked: root.regenerateRequested()
            }
        }
    }
}
