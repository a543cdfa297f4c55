import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

// Model, generation parameters and window settings, in one column that scrolls.
FocusScope {
    id: root

    required property ModelBox modelBox
    required property ParameterModel parameters
    required property Preferences preferences

    signal chooseFolderRequested()

    // Brings the control that got the keyboard into view.
    function reveal(item: Item) {
        const top = item.mapToItem(column, 0, 0).y
        const bottom = top + item.height
        const margin = Theme.spacing
        if (top - margin < scroller.contentY)
            scroller.contentY = Math.max(0, top - margin)
        else if (bottom + margin > scroller.contentY + scroller.height)
            scroller.contentY = Math.min(scroller.contentHeight - scroller.height, bottom + margin - scroller.height)
    }

    function isInside(item: Item): bool {
        while (item !== null && item !== column)
            item = item.parent
        return item === column
    }

    Rectangle {
        anchors.fill: parent
        color: Theme.sides
    }
    Rectangle {
        width: 1
        height: parent.height
        color: Theme.line
    }

    Flickable {
        id: scroller

        anchors.fill: parent
        anchors.leftMargin: 1
        contentHeight: column.height
        boundsBehavior: Flickable.StopAtBounds
        clip: true

        ScrollBar.vertical: ScrollBar {}

        Column {
            id: column

            width: scroller.width
            padding: Theme.spacing
            spacing: Theme.spacing

            ModelCard {
                width: parent.width - 2 * parent.padding
                modelBox: root.modelBox
                onChooseFolderRequested: root.chooseFolderRequested()
            }
            ParameterList {
                x: Theme.spacingLarge
                width: parent.width - 2 * x
                parameters: root.parameters
            }
            Rectangle {
                x: Theme.spacingLarge
                width: parent.width - 2 * x
                height: 1
                color: Theme.line
            }
            PreferencesSection {
                x: Theme.spacingLarge
                width: parent.width - 2 * x
                preferences: root.preferences
            }
        }
    }

    Connections {
        target: root.Window.window

        function onActiveFocusItemChanged() {
            const item = root.Window.activeFocusItem
            if (item !== null && root.isInside(item))
                root.reveal(item)
        }
    }
}
