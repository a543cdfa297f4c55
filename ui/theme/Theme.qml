pragma Singleton

import QtQuick

// Colours, sizes and motion of the whole window. The window sets `dark`, `fontScale` and `reducedMotion`; everything else
// follows. Text colours hold a contrast of at least 4.5:1 on every surface they are used on (tests/ui/tst_theme.qml).
QtObject {
    id: root

    property bool dark: false
    property real fontScale: 1
    property bool reducedMotion: false

    // Surfaces
    readonly property color background: dark ? "#16181C" : "#FBFAF8"
    readonly property color sides: dark ? "#111317" : "#F3F1EC"
    readonly property color surface: dark ? "#1E2127" : "#FFFFFF"
    readonly property color bubble: dark ? "#252A33" : "#EFEBE3"
    readonly property color code: dark ? "#13161A" : "#F6F4EF"
    readonly property color accentSoft: dark ? "#1F2E47" : "#E8F0FE"
    readonly property color warningSoft: dark ? "#332A14" : "#FBF0D9"
    readonly property color dangerSoft: dark ? "#3A1F1E" : "#FCEBE9"
    readonly property color hover: dark ? "#2A2F38" : "#EAE6DD"
    readonly property color track: dark ? "#2C3038" : "#E0DBD0"

    // Lines, and graphics that carry no text
    readonly property color line: dark ? "#2C3038" : "#E4E0D8"
    readonly property color lineStrong: dark ? "#6B727E" : "#8A857B"
    readonly property color accent: dark ? "#6FA8FF" : "#2F6FEB"
    readonly property color dangerLine: dark ? "#7A3A36" : "#E7A9A4"
    readonly property color scrim: dark ? "#99000000" : "#66000000"

    // Text
    readonly property color text: dark ? "#E8E6E1" : "#1F2328"
    readonly property color muted: dark ? "#9AA0A8" : "#5F646B"
    readonly property color accentText: dark ? "#6FA8FF" : "#2460D3"
    readonly property color accentContrast: dark ? "#111317" : "#FFFFFF"
    readonly property color good: dark ? "#5CC08A" : "#17774A"
    readonly property color warning: dark ? "#E3B341" : "#8A5A00"
    readonly property color danger: dark ? "#FF8A80" : "#B3261E"
    readonly property color selection: dark ? "#2F4E80" : "#BBD3FB"
    readonly property color selectedText: text

    // Spacing, on a grid of 4
    readonly property int spacingTiny: 4
    readonly property int spacingSmall: 8
    readonly property int spacing: 12
    readonly property int spacingLarge: 16
    readonly property int spacingHuge: 24

    readonly property int radiusSmall: 6
    readonly property int radius: 8
    readonly property int radiusCard: 10
    readonly property int radiusBubble: 14

    // Type, in pixels
    readonly property int captionSize: Math.round(12 * fontScale)
    readonly property int uiSize: Math.round(14 * fontScale)
    readonly property int messageSize: Math.round(15 * fontScale)
    readonly property int codeSize: Math.round(13.5 * fontScale)
    readonly property int titleSize: Math.round(16 * fontScale)
    readonly property int headlineSize: Math.round(22 * fontScale)
    readonly property int controlHeight: Math.round(32 * fontScale)
    readonly property int compactControlHeight: Math.round(28 * fontScale)

    // One family that draws Latin and simplified Chinese alike keeps mixed lines on one baseline and avoids Japanese
    // forms of Chinese characters; where none is installed, the system's own font and its fallbacks serve.
    readonly property string sansFamily: firstInstalled(
        ["Noto Sans CJK SC", "Source Han Sans SC", "Noto Sans SC", "PingFang SC", "Microsoft YaHei UI"],
        Application.font.family)
    readonly property string monoFamily: firstInstalled(
        ["JetBrains Mono", "Cascadia Mono", "SF Mono", "Menlo", "Consolas", "Noto Sans Mono", "DejaVu Sans Mono"],
        "monospace")

    readonly property int sidePanelWidth: Math.round(276 * Math.max(1, fontScale))
    readonly property int textColumnWidth: Math.round(720 * Math.max(1, fontScale))

    // Milliseconds; zero switches every transition off.
    readonly property int motionShort: reducedMotion ? 0 : 120
    readonly property int motionLong: reducedMotion ? 0 : 180

    function firstInstalled(families: var, fallback: string): string {
        const installed = Qt.fontFamilies()
        return families.find(family => installed.includes(family)) ?? fallback
    }
}
