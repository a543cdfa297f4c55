import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

// A field for one number. What is typed counts when Enter is pressed or the field is left, clamped to from…to; `edited`
// then carries it. The owner changes `value`. Accepts the decimal sign of the locale, and "." and "," alike.
T.TextField {
    id: control

    required property real value
    required property real from
    required property real to
    property real stepSize: 1
    property int decimals: 0
    property string specialText: ""  // shown instead of `from`, and read back as `from`

    signal edited(real newValue)

    function formatted(number: real): string {
        if (specialText !== "" && number === from)
            return specialText
        return Number(number).toLocaleString(Qt.locale(), "f", decimals).split(Qt.locale().groupSeparator || "\u0000").join("")
    }

    // The number written in `written`, or NaN.
    function parsed(written: string): real {
        const trimmed = written.trim()
        if (specialText !== "" && trimmed.toLowerCase() === specialText.toLowerCase())
            return from
        if (decimals === 0 && /^[-+]?\d{1,3}([.,' \u00a0\u202f]\d{3})+$/.test(trimmed))
            return Number(trimmed.replace(/[.,' \u00a0\u202f]/g, ""))
        const dotted = trimmed.replace(Qt.locale().decimalPoint, ".").replace(",", ".")
        return trimmed === "" ? NaN : Number(dotted)
    }

    function commit() {
        const number = parsed(text)
        if (!isNaN(number) && text !== formatted(value))
            edited(Math.min(to, Math.max(from, number)))
        text = formatted(value)
    }

    function step(direction: int) {
        edited(Math.min(to, Math.max(from, value + direction * stepSize)))
        text = formatted(value)
    }

    implicitWidth: Math.round(64 * Theme.fontScale)
    implicitHeight: Theme.compactControlHeight
    leftPadding: Theme.spacingSmall
    rightPadding: Theme.spacingSmall
    verticalAlignment: TextInput.AlignVCenter
    horizontalAlignment: TextInput.AlignHCenter
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.selectedText
    selectByMouse: true
    font.family: specialText !== "" && text === specialText ? Theme.sansFamily : Theme.monoFamily
    font.pixelSize: Theme.captionSize + 1
    inputMethodHints: Qt.ImhFormattedNumbersOnly

    Component.onCompleted: text = formatted(value)
    onValueChanged: text = formatted(value)
    onDecimalsChanged: text = formatted(value)
    onSpecialTextChanged: text = formatted(value)
    onEditingFinished: commit()
    onActiveFocusChanged: activeFocus ? selectAll() : deselect()

    Keys.onEscapePressed: event => {
        event.accepted = text !== formatted(value)
        text = formatted(value)
    }
    Keys.onUpPressed: step(1)
    Keys.onDownPressed: step(-1)

    background: Rectangle {
        radius: Theme.radiusSmall
        color: Theme.surface
        border.width: control.activeFocus ? 2 : 1
        border.color: control.activeFocus ? Theme.accent : control.hovered ? Theme.lineStrong : Theme.line
    }
}
