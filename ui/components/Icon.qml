import QtQuick
import GlmChat.Theme

// One of the drawings in resources/icons, stroked in `color`.
Canvas {
    id: root

    required property string name
    property color color: Theme.text

    implicitWidth: Math.round(16 * Theme.fontScale)
    implicitHeight: implicitWidth
    antialiasing: true

    onNameChanged: requestPaint()
    onColorChanged: requestPaint()

    onPaint: {
        const context = getContext("2d")
        context.reset()
        context.scale(width / 16, height / 16)
        context.strokeStyle = root.color
        context.lineWidth = 1.5
        context.lineCap = "round"
        context.lineJoin = "round"
        context.path = IconPaths.paths[root.name]
        context.stroke()
    }
}
