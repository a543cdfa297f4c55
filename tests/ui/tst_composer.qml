import QtQuick
import QtTest
import GlmChat.App
import GlmChat.Chat
import GlmChat.Tests
import "find.js" as Find

Item {
    id: root

    width: 800
    height: 600

    Component {
        id: paneComponent

        ChatPane {
            anchors.fill: parent
            session: ChatSession {}
            modelBox: ModelBox {}
            preferences: Preferences {}
        }
    }

    TestCase {
        id: test

        property var pane: null
        property var area: null

        name: "Composer"
        when: windowShown

        function init() {
            pane = createTemporaryObject(paneComponent, root)
            area = pane.composer.textArea
            pane.composer.focusText()
            verify(area.activeFocus)
            waitForRendering(pane)
        }

        function sentTexts(): var {
            return pane.session.calls.filter(call => call[0] === "send").map(call => call[1])
        }

        function test_keys_send_data() {
            return [
                { tag: "Return", key: Qt.Key_Return, modifiers: Qt.NoModifier, enterSends: true, sent: true },
                { tag: "keypad Enter", key: Qt.Key_Enter, modifiers: Qt.KeypadModifier, enterSends: true, sent: true },
                { tag: "Shift+Return", key: Qt.Key_Return, modifiers: Qt.ShiftModifier, enterSends: true, sent: false },
                { tag: "Shift+keypad Enter", key: Qt.Key_Enter, modifiers: Qt.ShiftModifier | Qt.KeypadModifier,
                  enterSends: true, sent: false },
                { tag: "Return as new line", key: Qt.Key_Return, modifiers: Qt.NoModifier, enterSends: false, sent: false },
                { tag: "Ctrl+Return", key: Qt.Key_Return, modifiers: Qt.ControlModifier, enterSends: false, sent: true },
                { tag: "Ctrl+keypad Enter", key: Qt.Key_Enter, modifiers: Qt.ControlModifier | Qt.KeypadModifier,
                  enterSends: false, sent: true }
            ]
        }

        function test_keys_send(row) {
            pane.preferences.enterSends = row.enterSends
            keyClick("h")
            keyClick("i")
            keyClick(row.key, row.modifiers)
            compare(sentTexts(), row.sent ? ["hi"] : [])
            compare(area.text, row.sent ? "" : "hi\n")
        }

        function test_text_is_sent_as_written() {
            const text = "  <img src=http://127.0.0.1:9/x>\n\ta < b && c > d &lt;  "
            area.text = text
            keyClick(Qt.Key_Return)
            compare(sentTexts(), [text])
        }

        function test_whitespace_is_not_sent() {
            area.text = " \n\t "
            keyClick(Qt.Key_Return)
            compare(sentTexts(), [])
            compare(area.text, " \n\t ")
            verify(!Find.button(pane, "Send").enabled)
            area.text = "x"
            verify(Find.button(pane, "Send").enabled)
        }

        function test_return_is_left_to_a_composing_input_method() {
            UiDriver.preedit("nihao")
            verify(area.inputMethodComposing)
            keyClick(Qt.Key_Return)
            keyClick(Qt.Key_Enter, Qt.KeypadModifier)
            compare(sentTexts(), [])
        }

        function test_send_button_takes_what_is_not_committed() {
            keyClick("a")
            keyClick("b")
            keyClick(Qt.Key_Left)
            UiDriver.preedit("好")
            verify(Find.button(pane, "Send").enabled)
            mouseClick(Find.button(pane, "Send"))
            compare(sentTexts(), ["a好b"])
            compare(area.text, "")
            compare(area.preeditText, "")
        }

        function test_stays_editable_while_busy_and_while_loading() {
            pane.session.state = EngineState.Decoding
            keyClick("a")
            pane.session.state = EngineState.Loading
            pane.modelBox.loaded = false
            pane.modelBox.loading = true
            keyClick("b")
            compare(area.text, "ab")
            keyClick(Qt.Key_Return)
            compare(sentTexts(), [])
            compare(area.text, "ab")
        }

        function test_draft_follows_both_ways() {
            keyClick("d")
            compare(pane.session.draft, "d")
            pane.session.draft = "restored"
            compare(area.text, "restored")
        }

        function test_a_restored_draft_is_shown() {
            const second = createTemporaryObject(paneComponent, root, {
                session: Qt.createQmlObject('import GlmChat.App; ChatSession { draft: "kept" }', root)
            })
            compare(second.composer.textArea.text, "kept")
            compare(second.composer.textArea.cursorPosition, 4)
        }

        function test_up_in_an_empty_box_recalls_the_last_message() {
            area.text = "first"
            keyClick(Qt.Key_Return)
            keyClick(Qt.Key_Up)
            compare(area.text, "first")
            area.text = "not empty"
            keyClick(Qt.Key_Up)
            compare(area.text, "not empty")
        }

        function test_grows_to_a_third_of_the_window_then_scrolls() {
            const oneLine = pane.composer.height
            area.text = "1\n2\n3"
            verify(pane.composer.height > oneLine)
            area.text = "line\n".repeat(200)
            tryVerify(() => pane.composer.height > oneLine)
            verify(pane.composer.height <= root.Window.height / 3 + 1, pane.composer.height)
            verify(area.implicitHeight > pane.composer.height)
        }

        function test_tab_leaves_in_both_directions() {
            area.text = "text"
            keyClick(Qt.Key_Tab)
            verify(!area.activeFocus)
            compare(area.text, "text")
            pane.composer.focusText()
            keyClick(Qt.Key_Backtab, Qt.ShiftModifier)
            verify(!area.activeFocus)
            compare(area.text, "text")
        }

        function test_the_button_stops_a_generation() {
            pane.session.state = EngineState.Decoding
            compare(Find.button(pane, "Send"), null)
            mouseClick(Find.button(pane, "Stop"))
            compare(pane.session.calls, [["stop"]])
            pane.session.state = EngineState.Stopping
            verify(!Find.button(pane, "Stopping…").enabled)
        }

        function test_example_prompts_fill_the_box() {
            const example = Find.button(pane, "What is a token?")
            verify(example !== null)
            mouseClick(example)
            compare(area.text, "What is a token?")
            verify(area.activeFocus)
        }
    }
}
