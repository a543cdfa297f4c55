import QtQuick
import QtTest
import GlmChat.App
import GlmChat.Chat
import GlmChat.Tests
import "find.js" as Find

Item {
    id: root

    width: 700
    height: 400

    ErrorCard {
        id: errorData
    }
    Component {
        id: cardComponent

        ErrorCardView {
            width: root.width
            error: errorData
        }
    }

    TestCase {
        property var card: null

        name: "ErrorCard"
        when: windowShown

        function init() {
            errorData.calls = []
            errorData.visible = true
            errorData.title = "Not enough memory"
            errorData.message = "Needs 12.9 GB; 7.4 GB are free. <b>Not bold</b>"
            errorData.detail = "allocate [27392, 4096]"
            errorData.actionText = "Load as INT4"
            card = createTemporaryObject(cardComponent, root)
        }

        function test_shows_cause_numbers_and_details() {
            for (const text of [errorData.title, errorData.message, errorData.detail]) {
                const shown = Find.first(card, item => (item.source ?? item.text) === text)
                verify(shown !== null, text)
                compare(shown.textFormat, Text.PlainText)
            }
            compare(UiDriver.accessibleName(card), errorData.title)
        }

        function test_buttons_act_data() {
            return [
                { tag: "action", name: "Load as INT4", call: "trigger" },
                { tag: "copy", name: "Copy details", call: "copyDetails" },
                { tag: "dismiss", name: "Dismiss", call: "dismiss" }
            ]
        }

        function test_buttons_act(row) {
            waitForRendering(card)
            mouseClick(Find.button(card, row.name))
            compare(errorData.calls, [row.call])
        }

        function test_no_action_no_button() {
            errorData.actionText = ""
            compare(Find.button(card, "Load as INT4"), null)
            verify(Find.button(card, "Copy details") !== null)
        }

        function test_takes_no_space_when_there_is_no_error() {
            verify(card.implicitHeight > 60)
            errorData.visible = false
            compare(card.implicitHeight, 0)
            verify(!card.visible)
        }
    }
}
