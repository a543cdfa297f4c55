import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

T.ToolTip {
    id: control

    x: parent ? Math.round((parent.width - implicitWidth) / 2) : 0
    y: parent ? parent.height + Theme.spacingTiny : 0
    implicitWidth: contentWidth + leftPadding + rightPadding
    implicitHeight: contentHeight + topPadding + bottomPadding
    contentWidth: Math.min(measure.implicitWidth, 260)
    contentHeight: contentItem.implicitHeight
    margins: Theme.spacingSmall
    horizontalPadding: Theme.spacingSmall
    verticalPadding: Theme.spacingTiny
    delay: 500
    closePolicy: T.Popup.NoAutoClose

    contentItem: Text {
        text: control.text
        textFormat: Text.PlainText
        wrapMode: Text.Wrap
        color: Theme.text
        font.family: Theme.sansFamily
        font.pixelSize: Theme.captionSize
    }
    background: Rectangle {
        color: Theme.surface
        radius: Theme.radiusSmall
        border.color: Theme.line
    }

    Text {
        id: measure
        visible: false
        text: control.text
        textFormat: Text.PlainText
        font.family: Theme.sansFamily
        font.pixelSize: Theme.captionSize
    }
}
