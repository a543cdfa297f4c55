import QtQuick
import GlmChat.App
import GlmChat.Theme

// One row of the conversation, in a centred text column.
Item {
    id: root

    required property int index
    required property int author
    required property string text
    required property var blocks
    required property int status
    required property string statusText
    required property string captionText
    required property bool isLast

    required property ChatSession session
    required property Preferences preferences

    readonly property real columnWidth: Math.min(Theme.textColumnWidth, width - 2 * margin)
    readonly property real margin: width < 600 ? Theme.spacingLarge : Theme.spacingHuge

    signal regenerateRequested()

    implicitHeight: content.height

    HoverHandler {
        id: hover
    }

    Loader {
        id: content

        x: Math.round((root.width - width) / 2)
        width: root.columnWidth
        sourceComponent: root.author === Author.User ? userBubble : answer
    }

    // Ids of this file, which only Qt 6.5 can bind for the components inside it.
    // qmllint disable unqualified
    Component {
        id: userBubble

        UserBubble {
            source: root.text
        }
    }
    Component {
        id: answer

        AnswerView {
            source: root.text
            blocks: root.blocks
            status: root.status
            statusText: root.statusText
            captionText: root.captionText
            pendingText: root.isLast ? root.session.stateText : ""
            canRegenerate: root.isLast && root.session.canRegenerate
            hovered: hover.hovered
            onCopyRequested: root.session.copyMessage(root.index)
            onCopyTextRequested: text => root.preferences.copyText(text)
            onRegenerateRequested: root.regenerateRequested()
        }
    }
}
