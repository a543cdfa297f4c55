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
        id: viewComponent

        ConversationView {
            width: root.width
            height: root.height
            session: ChatSession {}
            preferences: Preferences {}
        }
    }

    TestCase {
        id: test

        property var view: null
        property var list: null
        property var messages: null

        readonly property string longText: "A line that is long enough to be wrapped where the window is narrow. ".repeat(12)

        name: "Conversation"
        when: windowShown

        function init() {
            view = createTemporaryObject(viewComponent, root)
            list = view.listView
            messages = view.session.messages
        }

        function fill(rounds: int) {
            for (let i = 0; i < rounds; ++i) {
                messages.addUser("Question " + i)
                messages.addAnswer("x", [messages.paragraph(longText.slice(0, 60 * (1 + i % 13))),
                                         messages.code(("print(" + i + ")\n").repeat(1 + i % 4), "python")])
            }
            settle()
        }

        function startAnswer() {
            view.session.state = EngineState.Decoding
            messages.addPending()
            settle()
        }

        function settle() {
            wait(0)
            waitForRendering(list, 200)
            wait(0)
        }

        function distanceToEnd(): real {
            return list.originY + list.contentHeight - list.height - list.contentY
        }

        function lastRow() {
            return list.itemAtIndex(list.count - 1)
        }

        // Where the row in the middle of the view stands, in pixels of the view.
        function standing(): var {
            let middle = list.contentY + list.height / 2
            while (list.indexAt(list.width / 2, middle) < 0)  // between two rows
                middle += list.spacing / 2
            const row = list.indexAt(list.width / 2, middle)
            return { row: row, y: list.itemAtIndex(row).mapToItem(list, 0, 0).y }
        }

        function test_opens_and_stays_at_the_end() {
            fill(40)
            verify(distanceToEnd() <= 1, distanceToEnd())
            startAnswer()
            for (let i = 0; i < 40; ++i) {
                messages.stream("some more words of the answer ")
                settle()
                verify(distanceToEnd() <= 1, distanceToEnd())
            }
        }

        function test_scrolling_up_stops_following_and_nothing_moves() {
            fill(150)
            startAnswer()
            messages.stream(longText)
            settle()
            const endY = list.contentY
            mouseWheel(list, list.width / 2, list.height / 2, 0, 360)
            verify(!view.sticking)
            tryVerify(() => list.contentY < endY - 50)
            tryVerify(() => !list.moving)
            verify(!view.sticking)
            const before = standing()
            for (let i = 0; i < 60; ++i) {
                messages.stream("some more words of the answer\n\n")
                settle()
                compare(list.itemAtIndex(before.row).mapToItem(list, 0, 0).y, before.y)
            }
        }

        function test_reading_far_above_is_not_disturbed() {
            fill(150)
            startAnswer()
            view.scrollByPages(-30)
            settle()
            verify(!view.sticking)
            const before = standing()
            verify(before.row < 250, before.row)
            for (let i = 0; i < 30; ++i) {
                messages.stream(longText)
                settle()
                compare(list.itemAtIndex(before.row).mapToItem(list, 0, 0).y, before.y)
            }
        }

        function test_scrolling_up_moves_by_what_was_asked() {
            fill(150)
            for (let i = 0; i < 40; ++i) {
                const before = standing()
                view.scrollBy(-90)
                settle()
                compare(list.itemAtIndex(before.row).mapToItem(list, 0, 0).y, before.y + 90)
            }
        }

        function test_coming_back_near_the_end_follows_again() {
            fill(20)
            view.scrollBy(-200)
            verify(!view.sticking)
            view.scrollBy(100)
            verify(!view.sticking)
            view.scrollBy(80)
            verify(view.sticking)
            view.scrollBy(-200)
            mouseWheel(list, list.width / 2, list.height / 2, 0, -1200)
            tryVerify(() => view.sticking)
            tryVerify(() => distanceToEnd() <= 24)
        }

        function test_layout_changes_do_not_stop_following() {
            fill(20)
            view.width = 420
            settle()
            verify(view.sticking)
            tryVerify(() => distanceToEnd() <= 1)
            view.width = 800
            view.height = 300
            settle()
            verify(view.sticking)
            tryVerify(() => distanceToEnd() <= 1)
        }

        function test_keys_scroll() {
            fill(40)
            view.forceActiveFocus()
            keyClick(Qt.Key_PageUp)
            verify(!view.sticking)
            keyClick(Qt.Key_Home)
            settle()
            compare(list.contentY, list.originY)
            keyClick(Qt.Key_End)
            settle()
            verify(view.sticking)
            verify(distanceToEnd() <= 1)
        }

        function test_jump_button_leads_to_the_end() {
            fill(40)
            compare(Find.button(view, "Jump to latest"), null)
            view.scrollByPages(-3)
            settle()
            const jump = Find.button(view, "Jump to latest")
            verify(jump !== null)
            mouseClick(jump)
            settle()
            verify(view.sticking)
            verify(distanceToEnd() <= 1)
        }

        function test_only_the_end_of_a_growing_text_is_inserted() {
            messages.addPending()
            messages.stream("one ")
            settle()
            const body = Find.first(lastRow(), item => item.source === "one " && item.insert !== undefined)
            verify(body !== null)
            body.select(0, 3)
            messages.stream("two <b>three</b>")
            settle()
            compare(body.text, "one two <b>three</b>")
            compare(body.selectedText, "one")
        }

        function test_text_is_shown_to_the_letter_data() {
            const texts = ["<img src=http://127.0.0.1:9/x>", "a < b && c > d &lt; &amp;", "**bold** [x](http://127.0.0.1:9/y)",
                           "<smirk>", "مرحبا (hello) 123!", "tab\there"]
            return texts.map(text => ({ tag: text, text: text }))
        }

        function test_text_is_shown_to_the_letter(row) {
            messages.addUser(row.text)
            messages.addAnswer(row.text, [messages.paragraph(row.text), messages.code(row.text, row.text)])
            settle()
            for (let i = 0; i < 2; ++i) {
                const body = Find.first(list.itemAtIndex(i), item => item.insert !== undefined && item.source === row.text)
                verify(body !== null)
                compare(body.textFormat, TextEdit.PlainText)
                compare(body.getText(0, body.length), row.text)
            }
            const label = Find.first(list.itemAtIndex(1), item => item.text === row.text && item.insert === undefined
                                                            && item.textFormat !== undefined)
            verify(label !== null)
            compare(label.textFormat, Text.PlainText)
        }

        function test_right_to_left_text_stands_right_and_code_left() {
            messages.addAnswer("x", [messages.paragraph("مرحبا (hello) 123!"), messages.code("مرحبا", "")])
            settle()
            const paragraph = Find.first(lastRow(), item => item.source === "مرحبا (hello) 123!" && item.insert !== undefined)
            compare(paragraph.effectiveHorizontalAlignment, TextEdit.AlignRight)
            const code = Find.first(lastRow(), item => item.source === "مرحبا" && item.insert !== undefined)
            compare(code.effectiveHorizontalAlignment, TextEdit.AlignLeft)
        }

        function test_actions_show_on_hover_and_focus_and_move_nothing() {
            fill(1)
            messages.finish(MessageStatus.Complete, "", "42.7 tokens/s")
            const footer = Find.first(lastRow(), item => item.actionsShown !== undefined)
            const heightBefore = lastRow().height
            mouseMove(root, 1, 1)
            tryVerify(() => !footer.actionsShown)
            mouseMove(lastRow(), lastRow().width / 2, lastRow().height / 2)
            tryVerify(() => footer.actionsShown)
            compare(lastRow().height, heightBefore)
            mouseMove(root, 1, 1)
            tryVerify(() => !footer.actionsShown)
            Find.button(lastRow(), "Regenerate").forceActiveFocus(Qt.TabFocusReason)
            verify(footer.actionsShown)
            compare(lastRow().height, heightBefore)
        }

        function test_actions_act() {
            fill(1)
            const regenerated = createTemporaryQmlObject("import QtTest; SignalSpy { signalName: 'regenerateRequested' }", root)
            regenerated.target = view
            keyOnButton("Regenerate")
            compare(regenerated.count, 1)
            keyOnButton("Copy")  // of the code block, which comes first
            compare(view.preferences.copied, "print(0)\n")
            const copyAnswer = Find.first(lastRow(), item => item.actionsShown !== undefined)
            Find.button(copyAnswer, "Copy").clicked()
            compare(view.session.calls, [["copyMessage", 1]])
        }

        function keyOnButton(name: string) {
            const target = Find.button(lastRow(), name)
            verify(target !== null, name)
            target.forceActiveFocus(Qt.TabFocusReason)
            keyClick(Qt.Key_Return)
        }

        function test_only_the_last_answer_offers_regenerate() {
            fill(2)
            compare(Find.button(list.itemAtIndex(1), "Regenerate"), null)
            verify(Find.button(list.itemAtIndex(3), "Regenerate") !== null)
            view.session.state = EngineState.Decoding
            compare(Find.button(list.itemAtIndex(3), "Regenerate"), null)
        }

        function test_an_answer_stopped_before_its_first_token_offers_another_try() {
            messages.addUser("Hi")
            messages.addPending()
            view.session.stateText = "Reading 812 tokens… 46 %"
            settle()
            verify(Find.first(lastRow(), item => item.text === "Reading 812 tokens… 46 %" && item.visible) !== null)
            messages.finish(MessageStatus.Stopped, "Stopped", "")
            settle()
            compare(Find.first(lastRow(), item => item.text === "Reading 812 tokens… 46 %" && item.visible), null)
            verify(Find.first(lastRow(), item => item.text === "Stopped" && item.visible) !== null)
            const footer = Find.first(lastRow(), item => item.actionsShown !== undefined)
            verify(footer.actionsShown)
            verify(Find.button(lastRow(), "Try again") !== null)
        }

        function test_a_continued_paragraph_has_no_gap() {
            const blocks = [messages.paragraph("one"), messages.paragraph("two"), messages.paragraph("three")]
            blocks[2].continued = true
            messages.addAnswer("x", blocks)
            settle()
            const items = Find.all(lastRow(), item => item.gap !== undefined)
            compare(items.length, 3)
            verify(items[1].gap > 0)
            compare(items[2].gap, 0)
            compare(items[2].y, items[1].y + items[1].height)
        }

        function test_the_caret_stands_at_the_end_while_the_answer_grows() {
            messages.addPending()
            messages.stream("words")
            settle()
            const caret = Find.first(lastRow(), item => item.textItem !== undefined && item.visible)
            verify(caret !== null)
            const x = caret.x
            messages.stream(" more")
            settle()
            verify(caret.x > x)
            messages.finish(MessageStatus.Complete, "", "")
            compare(Find.first(lastRow(), item => item.textItem !== undefined && item.visible), null)
        }
    }
}
