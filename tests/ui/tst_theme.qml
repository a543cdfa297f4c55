import QtQuick
import QtTest
import GlmChat.Theme

TestCase {
    name: "Theme"

    function linear(channel: real): real {
        return channel <= 0.04045 ? channel / 12.92 : Math.pow((channel + 0.055) / 1.055, 2.4)
    }

    function luminance(colour: color): real {
        return 0.2126 * linear(colour.r) + 0.7152 * linear(colour.g) + 0.0722 * linear(colour.b)
    }

    function contrast(a: color, b: color): real {
        const lighter = Math.max(luminance(a), luminance(b))
        const darker = Math.min(luminance(a), luminance(b))
        return (lighter + 0.05) / (darker + 0.05)
    }

    function cleanup() {
        Theme.dark = false
        Theme.fontScale = 1
    }

    function test_contrast_knows_black_and_white() {
        fuzzyCompare(contrast(Qt.color("#000000"), Qt.color("#FFFFFF")), 21, 1e-6)
        fuzzyCompare(contrast(Qt.color("#777777"), Qt.color("#FFFFFF")), 4.478, 1e-3)
    }

    // Every pair of text and surface that the window uses.
    function test_text_is_readable_data() {
        const surfaces = ["background", "sides", "surface", "bubble", "code", "hover", "accentSoft", "selection"]
        const pairs = []
        for (const surface of surfaces)
            pairs.push(["text", surface])
        for (const surface of ["background", "sides", "surface", "code", "hover", "dangerSoft"])
            pairs.push(["muted", surface])
        for (const surface of ["background", "sides", "surface", "hover"])
            pairs.push(["accentText", surface])
        for (const surface of ["background", "sides", "warningSoft"])
            pairs.push(["warning", surface])
        pairs.push(["accentContrast", "accent"], ["danger", "dangerSoft"], ["text", "dangerSoft"], ["good", "surface"])
        const rows = []
        for (const dark of [false, true]) {
            for (const [text, surface] of pairs)
                rows.push({ tag: (dark ? "dark " : "light ") + text + " on " + surface, dark: dark, text: text, surface: surface })
        }
        return rows
    }

    function test_text_is_readable(row) {
        Theme.dark = row.dark
        const ratio = contrast(Theme[row.text], Theme[row.surface])
        verify(ratio >= 4.5, ratio.toFixed(2))
    }

    // Marks without text that one must see: focus, tracks of sliders, edges of fields under the pointer.
    function test_marks_are_visible_data() {
        return [{ tag: "light", dark: false }, { tag: "dark", dark: true }]
    }

    function test_marks_are_visible(row) {
        Theme.dark = row.dark
        for (const surface of ["background", "sides", "surface"]) {
            verify(contrast(Theme.accent, Theme[surface]) >= 3, "accent on " + surface)
            verify(contrast(Theme.lineStrong, Theme[surface]) >= 3, "lineStrong on " + surface)
        }
    }

    function test_sizes_follow_the_font_scale() {
        const sizes = ["captionSize", "uiSize", "messageSize", "codeSize", "titleSize", "headlineSize"]
        const before = sizes.map(name => Theme[name])
        Theme.fontScale = 2
        for (let i = 0; i < sizes.length; ++i)
            verify(Math.abs(Theme[sizes[i]] - 2 * before[i]) <= 1, sizes[i])
    }

    function test_reduced_motion_switches_transitions_off() {
        verify(Theme.motionShort > 0)
        Theme.reducedMotion = true
        compare(Theme.motionShort, 0)
        compare(Theme.motionLong, 0)
        Theme.reducedMotion = false
    }
}
