import QtQml
import QtQml.Models
import GlmChat.App

ListModel {
    id: root

    property bool anyChanged: false
    property bool canUndoReset: false
    property var calls: []

    function row(key: string): int {
        for (let i = 0; i < count; ++i) {
            if (get(i).key === key)
                return i
        }
        return -1
    }

    function setValue(key: string, value: real) {
        const entry = get(row(key))
        const rounded = Number(Math.min(entry.to, Math.max(entry.from, value)).toFixed(entry.decimals))
        setProperty(row(key), "value", rounded)
        setProperty(row(key), "changed", rounded !== entry.defaultValue)
        anyChanged = true
    }
    function reset(key: string) {
        setValue(key, get(row(key)).defaultValue)
    }
    function resetAll() {
        calls.push("resetAll")
        for (let i = 0; i < count; ++i)
            reset(get(i).key)
        anyChanged = false
        canUndoReset = true
    }
    function undoReset() {
        calls.push("undoReset")
        canUndoReset = false
    }

    function add(key: string, label: string, defaultValue: real, from: real, to: real, step: real, decimals: int, kind: int) {
        append({ key: key, label: label, help: label, value: defaultValue, defaultValue: defaultValue, from: from, to: to,
                 stepSize: step, decimals: decimals, changed: false, kind: kind })
    }

    Component.onCompleted: {
        add("temperature", "Temperature", 0.8, 0, 2, 0.05, 2, ParameterKind.Slider)
        add("topP", "Top-p", 0.8, 0, 1, 0.01, 2, ParameterKind.Slider)
        add("topK", "Top-k", 50, 0, 200, 1, 0, ParameterKind.Slider)
        add("repetitionPenalty", "Repetition penalty", 1, 1, 2, 0.01, 2, ParameterKind.Slider)
        add("maxNewTokens", "Longest answer", 2048, 1, 8192, 1, 0, ParameterKind.Slider)
        add("seed", "Seed", -1, -1, 4294967295, 1, 0, ParameterKind.Seed)
        add("contextSize", "Context", 8192, 256, 32768, 256, 0, ParameterKind.Slider)
    }
}
