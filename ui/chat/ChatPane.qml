import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

// Conversation, what went wrong, and the composer.
FocusScope {
    id: root

    required property ChatSession session
    required property ModelBox modelBox
    required property Preferences preferences

    readonly property alias composer: composer
    readonly property alias conversation: conversation

    readonly property real columnMargin: width < 600 ? Theme.spacing : Theme.spacingHuge
    readonly property real columnWidth: Math.min(Theme.textColumnWidth, width - 2 * columnMargin)

    signal chooseFolderRequested()

    function regenerate() {
        session.regenerate()
        conversation.jumpToLatest()
    }

    ConversationView {
        id: conversation

        anchors.top: parent.top
        anchors.bottom: errorCard.top
        width: parent.width
        session: root.session
        preferences: root.preferences
        visible: listView.count > 0
        onRegenerateRequested: root.regenerate()
    }

    EmptyState {
        anchors.fill: conversation
        visible: !conversation.visible
        modelBox: root.modelBox
        onChooseFolderRequested: root.chooseFolderRequested()
        onPromptChosen: text => root.composer.fill(text)
    }

    ErrorCardView {
        id: errorCard

        anchors.horizontalCenter: parent.horizontalCenter
        anchors.bottom: composer.top
        anchors.bottomMargin: Theme.spacingSmall
        width: root.columnWidth
        error: root.session.error
    }

    Composer {
        id: composer

        anchors.horizontalCenter: parent.horizontalCenter
        anchors.bottom: parent.bottom
        width: root.columnWidth
        focus: true
        session: root.session
        modelBox: root.modelBox
        preferences: root.preferences
        maximumHeight: (Window.height || root.height) / 3
        onSent: conversation.jumpToLatest()
        onPagesScrolled: pages => conversation.scrollByPages(pages)
    }
}
