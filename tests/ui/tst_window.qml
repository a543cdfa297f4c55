import QtQuick
import QtTest
import GlmChat.App
import GlmChat.Tests
import GlmChat.Theme
import GlmChat.Ui
import "find.js" as Find

TestCase {
    id: root

    property var window: null

    name: "Window"
    when: windowShown

    Component {
        id: windowComponent

        Main {
            session: ChatSession {}
            modelBox: ModelBox {}
            parameters: ParameterModel {}
            preferences: Preferences {}
        }
    }

    function init() {
        window = createTemporaryObject(windowComponent, root)
        tryVerify(() => window.visible)
        waitForRendering(window.contentItem)
    }

    function find(matches: var) {
        return Find.first(window.contentItem.parent ?? window.contentItem, matches)
    }

    function composer() {
        return find(item => item.completeText !== undefined)
    }

    function panel() {
        return find(item => item.reveal !== undefined && item.visible)
    }

    function test_the_composer_has_the_keyboard_at_the_start() {
        UiDriver.keyClick(window, Qt.Key_X)
        compare(composer().textArea.text, "x")
    }

    function test_escape_stops_and_is_harmless_otherwise() {
        UiDriver.keyClick(window, Qt.Key_Escape)
        compare(window.session.calls, [])
        window.session.state = EngineState.Decoding
        UiDriver.keyClick(window, Qt.Key_Escape)
        compare(window.session.calls, [["stop"]])
    }

    function test_escape_closes_a_popup_first() {
        window.session.state = EngineState.Decoding
        const box = find(item => item.popup !== undefined && item.visible)
        box.forceActiveFocus(Qt.TabFocusReason)
        UiDriver.keyClick(window, Qt.Key_Space)
        tryVerify(() => box.popup.opened)
        UiDriver.keyClick(window, Qt.Key_Escape)
        tryVerify(() => !box.popup.visible)
        compare(window.session.calls, [])
        UiDriver.keyClick(window, Qt.Key_Escape)
        compare(window.session.calls, [["stop"]])
    }

    function test_shortcuts_data() {
        return [
            { tag: "new chat", key: Qt.Key_N, state: EngineState.Ready, call: ["newChat"] },
            { tag: "stop", key: Qt.Key_Period, state: EngineState.Decoding, call: ["stop"] },
            { tag: "regenerate", key: Qt.Key_R, state: EngineState.Ready, call: ["regenerate"] }
        ]
    }

    function test_shortcuts(row) {
        window.session.messages.addUser("Hi")
        window.session.messages.addAnswer("Hello")
        window.session.state = row.state
        UiDriver.keyClick(window, row.key, Qt.ControlModifier)
        compare(window.session.calls, [row.call])
    }

    function test_ctrl_l_leads_to_the_composer() {
        find(item => item.popup !== undefined && item.visible).forceActiveFocus(Qt.TabFocusReason)
        verify(!composer().textArea.activeFocus)
        UiDriver.keyClick(window, Qt.Key_L, Qt.ControlModifier)
        verify(composer().textArea.activeFocus)
    }

    function test_panel_is_docked_and_can_be_hidden() {
        compare(panel().width, Theme.sidePanelWidth)
        UiDriver.keyClick(window, Qt.Key_Comma, Qt.ControlModifier)
        compare(panel(), null)
        UiDriver.keyClick(window, Qt.Key_Comma, Qt.ControlModifier)
        verify(panel() !== null)
    }

    function test_panel_becomes_a_drawer_data() {
        return [{ tag: "800", width: 800 }, { tag: "480", width: 480 }]
    }

    function test_panel_becomes_a_drawer(row) {
        window.width = row.width
        tryCompare(window, "docked", false)
        compare(panel(), null)
        UiDriver.keyClick(window, Qt.Key_Comma, Qt.ControlModifier)
        tryVerify(() => panel() !== null)
        verify(panel().width <= row.width - 48)
        tryVerify(() => panel().mapToItem(window.contentItem, 0, 0).x === row.width - panel().width)
        window.session.state = EngineState.Decoding
        UiDriver.keyClick(window, Qt.Key_Escape)
        tryVerify(() => panel() === null)
        compare(window.session.calls, [])
        verify(composer().textArea.activeFocus)
    }

    function test_nothing_is_cut_off_at_480_pixels() {
        window.width = 480
        window.session.state = EngineState.Decoding
        waitForRendering(window.contentItem)
        const wide = Find.all(window.contentItem, item => {
            const x = item.mapToItem(window.contentItem, 0, 0).x
            return item.visible && item.clicked !== undefined && (x < 0 || x + item.width > 480)
        })
        compare(wide.map(UiDriver.describe), [])
    }

    function test_a_model_folder_can_be_dropped() {
        const hint = find(item => item.shown !== undefined && item.radius === 0)
        verify(!hint.shown)
        verify(UiDriver.dragOver(window, ["file:///models/chatglm2-6b"]))
        verify(hint.shown)
        tryVerify(() => hint.visible)
        UiDriver.drop(window, ["file:///models/chatglm2-6b"])
        compare(window.modelBox.calls, [["load", "file:///models/chatglm2-6b"]])
        tryVerify(() => !hint.shown)
    }

    function test_anything_else_is_refused() {
        const hint = find(item => item.shown !== undefined && item.radius === 0)
        UiDriver.dragOver(window, ["https://example.org/model"])
        verify(!hint.shown)
        UiDriver.dragOver(window, ["file:///a", "file:///b"])
        verify(!hint.shown)
        compare(window.modelBox.calls, [])
    }

    function test_every_tab_stop_has_a_name_data() {
        return [
            { tag: "empty", prepare: () => {} },
            { tag: "conversation", prepare: () => {
                window.session.messages.addUser("Hi")
                window.session.messages.addAnswer("x", [window.session.messages.code("a", "c")])
            } },
            { tag: "error", prepare: () => {
                window.session.error.title = "Failed"
                window.session.error.actionText = "Retry"
                window.session.error.visible = true
            } },
            { tag: "loading", prepare: () => {
                window.modelBox.loaded = false
                window.modelBox.loading = true
            } },
            { tag: "changed", prepare: () => window.parameters.setValue("temperature", 1.5) }
        ]
    }

    function test_every_tab_stop_has_a_name(row) {
        row.prepare()
        waitForRendering(window.contentItem)
        const stops = UiDriver.tabStops(window.contentItem)
        verify(stops.length > 15, stops.length)
        const nameless = stops.filter(item => UiDriver.accessibleName(item) === "")
        compare(nameless.map(UiDriver.describe), [])
    }

    function test_tab_comes_round() {
        const seen = []
        for (let i = 0; i < 100; ++i) {
            UiDriver.keyClick(window, Qt.Key_Tab)
            const item = window.activeFocusItem
            if (item === seen[0])
                break
            verify(!seen.includes(item), "Tab is caught at " + UiDriver.describe(item))
            seen.push(item)
        }
        verify(seen.length > 15, seen.length)
        compare(window.activeFocusItem, seen[0])
    }

    function test_theme_follows_the_preferences() {
        verify(!Theme.dark)
        window.preferences.theme = "dark"
        verify(Theme.dark)
        compare(window.color, Theme.background)
    }

    function test_zoom_keys_scale_the_text() {
        UiDriver.keyClick(window, Qt.Key_Plus, Qt.ControlModifier)
        compare(Theme.fontScale, 1.125)
        UiDriver.keyClick(window, Qt.Key_0, Qt.ControlModifier)
        compare(Theme.fontScale, 1)
    }
}
