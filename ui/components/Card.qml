import QtQuick
import GlmChat.Theme

// A raised area with a hairline. Children lie in a column inside its padding.
Rectangle {
    id: root

    default property alias content: column.data
    property alias spacing: column.spacing
    property int padding: Theme.spacing

    implicitHeight: column.implicitHeight + 2 * padding
    color: Theme.surface
    radius: Theme.radiusCard
    border.color: Theme.line

    Column {
        id: column

        anchors.fill: parent
        anchors.margins: root.padding
        spacing: Theme.spacingSmall
    }
}
