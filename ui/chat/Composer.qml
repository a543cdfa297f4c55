import QtQuick
import QtQuick.Templates as T
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

// Where the next message is written. It can be typed in at any time; only sending waits for the model.
FocusScope {
    id: root

    required property ChatSession session
    required property ModelBox modelBox
    required property Preferences preferences
    required property real maximumHeight

    property string lastSent: ""

    readonly property alias textArea: area
    readonly property bool hasText: area.text.trim() !== "" || area.preeditText !== ""
    readonly property bool stopping: session.state === EngineState.Stopping

    signal sent()
    signal pagesScrolled(int pages)

    // The text including what an input method has not committed yet. Not every input method commits when asked.
    function completeText(): string {
        InputMethod.commit()
        const text = area.text
        const place = area.cursorPosition
        return text.slice(0, place) + area.preeditText + text.slice(place)
    }

    function send() {
        const text = completeText()
        if (!session.send(text))
            return
        InputMethod.reset()
        area.clear()
        lastSent = text
        sent()
    }

    function fill(text: string) {
        area.text = text
        area.cursorPosition = area.length
        focusText()
    }

    function focusText() {
        area.forceActiveFocus(Qt.ShortcutFocusReason)
    }

    function handleReturn(event: var) {
        const control = event.modifiers & Qt.ControlModifier
        const shift = event.modifiers & Qt.ShiftModifier
        const sends = preferences.enterSends ? !shift : control
        event.accepted = sends && !area.inputMethodComposing
        if (event.accepted)
            send()
    }

    function handleUp(event: var) {
        event.accepted = area.text === "" && !area.inputMethodComposing && lastSent !== ""
        if (event.accepted)
            fill(lastSent)
    }

    function leave(forward: bool) {
        const reason = forward ? Qt.TabFocusReason : Qt.BacktabFocusReason
        area.nextItemInFocusChain(forward).forceActiveFocus(reason)
    }

    implicitHeight: box.height

    Rectangle {
        id: box

        width: parent.width
        height: scroller.height + bottomRow.height + Theme.spacing + Theme.spacingTiny + Theme.spacingSmall
        radius: Theme.radiusBubble
        color: Theme.surface
        border.width: area.activeFocus ? 2 : 1
        border.color: area.activeFocus ? Theme.accent : Theme.line

        Flickable {
            id: scroller

            readonly property real chromeHeight: box.height - height

            x: Theme.spacingLarge
            y: Theme.spacing
            width: parent.width - 2 * Theme.spacingLarge + Theme.spacingSmall
            height: Math.max(area.lineHeight, Math.min(area.implicitHeight, root.maximumHeight - chromeHeight))
            contentHeight: area.implicitHeight
            clip: true
            boundsBehavior: Flickable.StopAtBounds
            flickableDirection: Flickable.VerticalFlick

            T.TextArea.flickable: T.TextArea {
                id: area

                readonly property real lineHeight: metrics.height

                focus: true
                rightPadding: Theme.spacingSmall
                implicitHeight: contentHeight
                wrapMode: TextEdit.Wrap
                textFormat: TextEdit.PlainText
                selectByMouse: true
                color: Theme.text
                selectionColor: Theme.selection
                selectedTextColor: Theme.selectedText
                font.family: Theme.sansFamily
                font.pixelSize: Theme.messageSize

                Accessible.name: qsTr("Message")
                Accessible.multiLine: true

                Component.onCompleted: {
                    text = root.session.draft
                    cursorPosition = length
                }
                onTextChanged: root.session.draft = text

                KeyNavigation.priority: KeyNavigation.BeforeItem
                Keys.priority: Keys.BeforeItem
                Keys.onReturnPressed: event => root.handleReturn(event)
                Keys.onEnterPressed: event => root.handleReturn(event)
                Keys.onUpPressed: event => root.handleUp(event)
                Keys.onTabPressed: root.leave(true)
                Keys.onBacktabPressed: root.leave(false)
                Keys.onPressed: event => {
                    const pages = event.key === Qt.Key_PageUp ? -1 : event.key === Qt.Key_PageDown ? 1 : 0
                    event.accepted = pages !== 0
                    if (event.accepted)
                        root.pagesScrolled(pages)
                }

                Text {
                    width: parent.width
                    visible: area.length === 0 && area.preeditText === ""
                    text: qsTr("Write a message")
                    textFormat: Text.PlainText
                    elide: Text.ElideRight
                    color: Theme.muted
                    font: area.font
                }
            }

            T.ScrollBar.vertical: ScrollBar {}
        }

        Item {
            id: bottomRow

            anchors.left: parent.left
            anchors.right: parent.right
            anchors.bottom: parent.bottom
            anchors.leftMargin: Theme.spacingLarge
            anchors.rightMargin: Theme.spacingSmall
            anchors.bottomMargin: Theme.spacingSmall
            height: Theme.controlHeight

            Text {
                anchors.left: parent.left
                anchors.right: actionButton.left
                anchors.rightMargin: Theme.spacing
                anchors.verticalCenter: parent.verticalCenter
                text: root.modelBox.loading ? qsTr("The model is loading; you can already write.")
                    : !root.modelBox.loaded ? qsTr("Choose a model to send messages.")
                    : root.preferences.enterSends ? qsTr("Enter sends, Shift+Enter starts a new line")
                                                  : qsTr("Ctrl+Enter sends, Enter starts a new line")
                textFormat: Text.PlainText
                elide: Text.ElideRight
                color: Theme.muted
                font.family: Theme.sansFamily
                font.pixelSize: Theme.captionSize
            }

            Button {
                id: actionButton

                anchors.right: parent.right
                readonly property bool stops: root.session.generating

                enabled: stops ? root.session.canStop : root.session.canSend && root.hasText
                primary: !stops
                iconName: stops ? "stop" : "send"
                text: root.stopping ? qsTr("Stopping…") : stops ? qsTr("Stop") : qsTr("Send")
                toolTip: stops ? qsTr("Stop the answer (Esc)") : ""
                onClicked: stops ? root.session.stop() : root.send()
            }
        }
    }

    FontMetrics {
        id: metrics
        font: area.font
    }

    Connections {
        target: root.session

        function onDraftChanged() {
            if (area.text !== root.session.draft)
                area.text = root.session.draft
        }
    }
}
