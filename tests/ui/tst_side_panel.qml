import QtQuick
import QtTest
import GlmChat.App
import GlmChat.Settings
import GlmChat.Tests
import "find.js" as Find

Item {
    id: root

    width: 276
    height: 700

    Component {
        id: panelComponent

        SidePanel {
            anchors.fill: parent
            modelBox: ModelBox {}
            parameters: ParameterModel {}
            preferences: Preferences {}
        }
    }

    TestCase {
        property var panel: null

        name: "SidePanel"
        when: windowShown

        function init() {
            panel = createTemporaryObject(panelComponent, root)
            waitForRendering(panel)
        }

        function find(matches: var) {
            return Find.first(panel, matches)
        }

        function slider(label: string) {
            return find(item => item.visualPosition !== undefined && item.defaultValue !== undefined && item.handle !== undefined
                                && UiDriver.accessibleName(item) === label)
        }

        function field(label: string) {
            return find(item => item.parsed !== undefined && UiDriver.accessibleName(item) === label)
        }

        function value(key: string): real {
            return panel.parameters.get(panel.parameters.row(key)).value
        }

        function test_slider_moves_model_and_field() {
            const temperature = slider("Temperature")
            temperature.forceActiveFocus()
            keyClick(Qt.Key_Right)
            fuzzyCompare(value("temperature"), 0.85, 1e-9)
            fuzzyCompare(field("Temperature").parsed(field("Temperature").text), 0.85, 1e-9)
            mouseClick(temperature, temperature.width - 1, temperature.height / 2)
            compare(value("temperature"), 2)
        }

        function test_field_moves_model_and_slider() {
            const topK = field("Top-k")
            topK.forceActiveFocus()
            topK.text = "120"
            keyClick(Qt.Key_Return)
            compare(value("topK"), 120)
            compare(slider("Top-k").value, 120)
            topK.text = "9999"
            keyClick(Qt.Key_Enter, Qt.KeypadModifier)
            compare(value("topK"), 200)
            compare(slider("Top-k").value, 200)
            compare(topK.text, "200")
        }

        function test_slider_follows_the_model_after_it_was_dragged() {
            const topP = slider("Top-p")
            mousePress(topP, topP.width / 2, topP.height / 2)
            mouseMove(topP, topP.width / 4, topP.height / 2)
            mouseRelease(topP, topP.width / 4, topP.height / 2)
            verify(value("topP") < 0.4)
            panel.parameters.setValue("topP", 0.9)
            fuzzyCompare(topP.value, 0.9, 1e-9)
        }

        function test_reset_mark_only_when_changed() {
            compare(Find.button(panel, "Reset Temperature"), null)
            panel.parameters.setValue("temperature", 1.5)
            const reset = Find.button(panel, "Reset Temperature")
            verify(reset !== null)
            mouseClick(reset)
            fuzzyCompare(value("temperature"), 0.8, 1e-9)
            compare(Find.button(panel, "Reset Temperature"), null)
        }

        function test_reset_all_and_undo() {
            compare(Find.button(panel, "Reset all"), null)
            panel.parameters.setValue("temperature", 1.5)
            Find.button(panel, "Reset all").clicked()
            compare(panel.parameters.calls, ["resetAll"])
            Find.button(panel, "Undo reset").clicked()
            compare(panel.parameters.calls, ["resetAll", "undoReset"])
        }

        function test_the_default_has_a_tick() {
            const temperature = slider("Temperature")
            const tick = Find.first(temperature, item => item.fraction !== undefined)
            fuzzyCompare(tick.fraction, 0.4, 1e-9)
            panel.parameters.setValue("temperature", 2)
            fuzzyCompare(tick.fraction, 0.4, 1e-9)
        }

        function test_the_wheel_scrolls_the_panel_and_no_slider() {
            const temperature = slider("Temperature")
            const before = temperature.mapToItem(panel, 0, 0).y
            mouseWheel(temperature, temperature.width / 2, temperature.height / 2, 0, -240)
            fuzzyCompare(value("temperature"), 0.8, 1e-9)
            tryVerify(() => temperature.mapToItem(panel, 0, 0).y < before)
            fuzzyCompare(value("temperature"), 0.8, 1e-9)
        }

        function test_seed_random_and_fixed() {
            const seed = field("Seed")
            compare(seed.text, "Random")
            verify(!Find.button(panel, "Random seed").enabled)
            seed.forceActiveFocus()
            seed.text = "42"
            keyClick(Qt.Key_Return)
            compare(value("seed"), 42)
            Find.button(panel, "Random seed").clicked()
            compare(value("seed"), -1)
            compare(seed.text, "Random")
        }

        function test_the_focused_control_scrolls_into_view() {
            const theme = find(item => item.currentIndex !== undefined && UiDriver.accessibleName(item) === "Theme")
            verify(theme.mapToItem(panel, 0, 0).y > panel.height)
            theme.forceActiveFocus(Qt.TabFocusReason)
            const y = theme.mapToItem(panel, 0, 0).y
            verify(y >= 0 && y + theme.height <= panel.height, y)
        }

        function test_model_card_shows_loading_and_cancels() {
            compare(Find.button(panel, "Cancel"), null)
            panel.modelBox.loading = true
            panel.modelBox.loaded = false
            panel.modelBox.progress = 0.37
            panel.modelBox.progressText = "Loading 37 %"
            panel.modelBox.elapsedSeconds = 14
            verify(find(item => item.text === "Loading 37 % · 14 s" && item.visible) !== null)
            verify(!Find.button(panel, "Choose folder…").enabled)
            Find.button(panel, "Cancel").clicked()
            compare(panel.modelBox.calls, [["cancel"]])
        }

        function test_model_card_actions() {
            compare(Find.button(panel, "Use the built-in model"), null)
            panel.modelBox.isGuideModel = false
            Find.button(panel, "Use the built-in model").clicked()
            Find.button(panel, "Unload").clicked()
            compare(panel.modelBox.calls, [["loadGuideModel"], ["unload"]])
        }

        function test_choices_write_through_data() {
            return [
                { tag: "device", label: "Device", object: "modelBox", property: "device", key: Qt.Key_Down, expected: 1 },
                { tag: "precision", label: "Precision", object: "modelBox", property: "precision", key: Qt.Key_Down, expected: 1 },
                { tag: "language", label: "Language", object: "preferences", property: "language", key: Qt.Key_Down, expected: "en" },
                { tag: "theme", label: "Theme", object: "preferences", property: "theme", key: Qt.Key_Down, expected: "light" }
            ]
        }

        function test_choices_write_through(row) {
            const box = find(item => item.currentIndex !== undefined && UiDriver.accessibleName(item) === row.label)
            box.forceActiveFocus(Qt.TabFocusReason)
            keyClick(row.key)
            compare(panel[row.object][row.property], row.expected)
            panel[row.object][row.property] = row.object === "modelBox" ? 2 : "system"
            compare(box.currentIndex, row.object === "modelBox" ? 2 : 0)
        }

        function test_a_choice_holds_when_its_texts_change() {
            const box = find(item => item.currentIndex !== undefined && UiDriver.accessibleName(item) === "Theme")
            panel.preferences.theme = "dark"
            compare(box.currentIndex, 2)
            box.model = ["跟随系统", "浅色", "深色"]
            compare(box.currentIndex, 2)
            compare(box.displayText, "深色")
            panel.preferences.theme = "light"
            compare(box.currentIndex, 1)
        }

        function test_enter_sends_switch() {
            const enterSends = Find.button(panel, "Enter sends")
            verify(enterSends.checked)
            enterSends.forceActiveFocus(Qt.TabFocusReason)
            keyClick(Qt.Key_Space)
            verify(!panel.preferences.enterSends)
        }
    }
}
