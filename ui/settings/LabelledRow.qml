import QtQuick
import GlmChat.Theme

// A label at the left and one control at the right.
Item {
    id: root

    required property string label
    default property alias control: slot.data

    implicitHeight: Math.max(labelText.implicitHeight, slot.height)

    Text {
        id: labelText

        anchors.left: parent.left
        anchors.right: slot.left
        anchors.rightMargin: Theme.spacingSmall
        anchors.verticalCenter: parent.verticalCenter
        text: root.label
        textFormat: Text.PlainText
        elide: Text.ElideRight
        color: Theme.text
        font.family: Theme.sansFamily
        font.pixelSize: Theme.uiSize - 1
    }

    Item {
        id: slot

        anchors.right: parent.right
        anchors.verticalCenter: parent.verticalCenter
        width: childrenRect.width
        height: childrenRect.height
    }
}
