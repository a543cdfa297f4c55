import QtQuick
import QtTest
import GlmChat.Components

TestCase {
    id: root

    property real stored: 0.8

    name: "NumberField"
    when: windowShown
    width: 300
    height: 100
    visible: true

    NumberField {
        id: field

        value: root.stored
        from: 0
        to: 2
        stepSize: 0.05
        decimals: 2
        onEdited: newValue => root.stored = newValue
    }
    NumberField {
        id: integerField

        y: 40
        value: 2048
        from: 1
        to: 8192
    }
    NumberField {
        id: seedField

        property real seed: -1

        y: 70
        value: seed
        from: -1
        to: 4294967295
        specialText: "Random"
        onEdited: newValue => seed = newValue
    }
    Item {
        id: elsewhere
        focus: true
    }

    function init() {
        stored = 0.8
        seedField.seed = -1
        elsewhere.forceActiveFocus()
    }

    function type(target: Item, written: string) {
        target.forceActiveFocus()
        target.text = written
    }

    function test_typing_alone_changes_nothing() {
        type(field, "1.5")
        compare(stored, 0.8)
    }

    function test_enter_takes_the_number_data() {
        return [
            { tag: "dot", written: "1.25", expected: 1.25 },
            { tag: "comma", written: "1,25", expected: 1.25 },
            { tag: "spaces", written: " 0.5 ", expected: 0.5 },
            { tag: "above", written: "17", expected: 2 },
            { tag: "below", written: "-3", expected: 0 },
            { tag: "no number", written: "warm", expected: 0.8 },
            { tag: "empty", written: "", expected: 0.8 }
        ]
    }

    function test_enter_takes_the_number(row) {
        type(field, row.written)
        keyClick(Qt.Key_Return)
        compare(stored, row.expected)
        compare(Number(field.text.replace(",", ".")), row.expected)
    }

    function test_leaving_takes_the_number() {
        type(field, "9")
        elsewhere.forceActiveFocus()
        compare(stored, 2)
        compare(field.parsed(field.text), 2)
    }

    function test_escape_takes_nothing() {
        type(field, "1.5")
        keyClick(Qt.Key_Escape)
        compare(field.parsed(field.text), 0.8)
        elsewhere.forceActiveFocus()
        compare(stored, 0.8)
    }

    function test_arrows_step() {
        field.forceActiveFocus()
        keyClick(Qt.Key_Up)
        fuzzyCompare(stored, 0.85, 1e-9)
        keyClick(Qt.Key_Down)
        keyClick(Qt.Key_Down)
        fuzzyCompare(stored, 0.75, 1e-9)
    }

    function test_grouped_integers() {
        compare(integerField.parsed("2,048"), 2048)
        compare(integerField.parsed("2.048"), 2048)
        compare(integerField.parsed("4 096"), 4096)
        compare(integerField.text, "2048")
    }

    function test_special_text_stands_for_the_lowest_value() {
        compare(seedField.text, "Random")
        type(seedField, "42")
        keyClick(Qt.Key_Return)
        compare(seedField.seed, 42)
        type(seedField, "random")
        keyClick(Qt.Key_Enter, Qt.KeypadModifier)
        compare(seedField.seed, -1)
        compare(seedField.text, "Random")
    }
}
