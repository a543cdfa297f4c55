import QtQuick
import QtQuick.Dialogs
import QtQuick.Templates as T
import GlmChat.App
import GlmChat.Chat
import GlmChat.Settings
import GlmChat.Theme

T.ApplicationWindow {
    id: window

    required property ChatSession session
    required property ModelBox modelBox
    required property ParameterModel parameters
    required property Preferences preferences

    // Beside the conversation where there is room, else in a drawer over it.
    readonly property bool docked: width >= 1000
    property bool panelWanted: true

    readonly property bool panelShown: docked ? panelWanted : drawer.visible

    function togglePanel() {
        if (docked)
            panelWanted = !panelWanted
        else
            drawer.visible = !drawer.visible
    }

    function startNewChat() {
        session.newChat()
        chat.composer.focusText()
    }

    function zoom(steps: int) {
        Theme.fontScale = steps === 0 ? 1 : Math.min(2, Math.max(0.75, Theme.fontScale + steps * 0.125))
    }

    width: 1280
    height: 800
    minimumWidth: 400
    minimumHeight: 420
    visible: true
    title: "glmchat"
    color: Theme.background

    onDockedChanged: {
        if (docked)
            drawer.close()
    }

    Binding {
        target: Theme
        property: "dark"
        value: window.preferences.darkMode
    }

    // Esc arrives here only when nothing that has the keyboard, and no popup, wanted it.
    FocusScope {
        id: content

        anchors.fill: parent
        focus: true

        Keys.onEscapePressed: event => {
            event.accepted = window.session.canStop
            if (event.accepted)
                window.session.stop()
        }

        HeaderBar {
            id: header

            width: parent.width - (panel.visible ? panel.width : 0)
            modelBox: window.modelBox
            panelShown: window.panelShown
            onNewChatRequested: window.startNewChat()
            onPanelToggleRequested: window.togglePanel()
        }
        ChatPane {
            id: chat

            anchors.top: header.bottom
            anchors.bottom: statusLine.top
            width: header.width
            focus: true
            session: window.session
            modelBox: window.modelBox
            preferences: window.preferences
            onChooseFolderRequested: folderDialog.open()
        }
        StatusLine {
            id: statusLine

            anchors.bottom: parent.bottom
            width: header.width
            session: window.session
            modelBox: window.modelBox
        }

        Loader {
            id: panel

            anchors.right: parent.right
            width: Theme.sidePanelWidth
            height: parent.height
            active: window.docked
            visible: window.docked && window.panelWanted
            sourceComponent: sidePanel
        }

        DropArea {
            id: dropArea

            anchors.fill: parent
            keys: ["text/uri-list"]
            onEntered: drag => drag.accepted = window.modelBox.canDrop(drag.urls)
            onDropped: drop => {
                drop.accepted = window.modelBox.canDrop(drop.urls)
                if (drop.accepted)
                    window.modelBox.load(drop.urls[0])
            }
        }
        DropHint {
            anchors.fill: parent
            shown: dropArea.containsDrag
        }
    }

    T.Drawer {
        id: drawer

        edge: Qt.RightEdge
        width: Math.min(Theme.sidePanelWidth, window.width - 48)
        height: window.height
        dragMargin: 0  // the edge belongs to the scroll bar
        focus: true
        dim: true
        modal: true
        onClosed: chat.composer.focusText()

        T.Overlay.modal: Rectangle {
            color: Theme.scrim
        }
        contentItem: Loader {
            active: !window.docked
            focus: true
            sourceComponent: sidePanel
        }
        enter: Transition {
            SmoothedAnimation {
                velocity: Theme.reducedMotion ? -1 : 4
            }
        }
        exit: Transition {
            SmoothedAnimation {
                velocity: Theme.reducedMotion ? -1 : 4
            }
        }
    }

    // Ids of this file, which only Qt 6.5 can bind for the components inside it.
    // qmllint disable unqualified
    Component {
        id: sidePanel

        SidePanel {
            modelBox: window.modelBox
            parameters: window.parameters
            preferences: window.preferences
            onChooseFolderRequested: folderDialog.open()
        }
    }
    // qmllint enable unqualified

    FolderDialog {
        id: folderDialog

        title: qsTr("Choose a model folder")
        onAccepted: window.modelBox.load(selectedFolder)
    }

    Shortcut {
        sequence: "Ctrl+N"
        onActivated: window.startNewChat()
    }
    Shortcut {
        sequence: "Ctrl+L"
        onActivated: chat.composer.focusText()
    }
    Shortcut {
        sequence: "Ctrl+."
        enabled: window.session.canStop
        onActivated: window.session.stop()
    }
    Shortcut {
        sequence: "Ctrl+R"
        enabled: window.session.canRegenerate
        onActivated: chat.regenerate()
    }
    Shortcut {
        sequence: "Ctrl+O"
        onActivated: folderDialog.open()
    }
    Shortcut {
        sequence: "Ctrl+,"
        onActivated: window.togglePanel()
    }
    Shortcut {
        sequences: ["Ctrl++", "Ctrl+="]
        onActivated: window.zoom(1)
    }
    Shortcut {
        sequence: "Ctrl+-"
        onActivated: window.zoom(-1)
    }
    Shortcut {
        sequence: "Ctrl+0"
        onActivated: window.zoom(0)
    }
}
