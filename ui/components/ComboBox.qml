import QtQuick
import QtQuick.Templates as T
import GlmChat.Theme

// A choice. The owner binds `selectedIndex`; it holds when the texts of the model change with the language, on which the
// template would go back to the first entry.
T.ComboBox {
    id: control

    property int selectedIndex: -1

    currentIndex: selectedIndex
    onModelChanged: currentIndex = Qt.binding(() => control.selectedIndex)

    implicitWidth: 140
    implicitHeight: Theme.compactControlHeight
    leftPadding: Theme.spacingSmall + 2
    rightPadding: Theme.spacingHuge
    focusPolicy: Qt.StrongFocus
    wheelEnabled: false
    font.family: Theme.sansFamily
    font.pixelSize: Theme.uiSize - 1

    contentItem: Text {
        text: control.displayText
        textFormat: Text.PlainText
        elide: Text.ElideRight
        verticalAlignment: Text.AlignVCenter
        color: control.enabled ? Theme.text : Theme.muted
        font: control.font
    }

    indicator: Item {
        x: control.width - width - Theme.spacingSmall
        y: (control.height - height) / 2
        width: 8
        height: 5

        Repeater {
            model: [-1, 1]

            Rectangle {
                required property int modelData

                x: 2.5 + modelData * 1.8 - width / 2 + 1.5
                y: 2
                width: 6
                height: 1.5
                radius: 1
                rotation: -modelData * 45
                antialiasing: true
                color: Theme.muted
            }
        }
    }

    background: Rectangle {
        radius: Theme.radiusSmall
        color: Theme.surface
        border.color: control.hovered ? Theme.lineStrong : Theme.line

        FocusRing {
            radius: Theme.radiusSmall + 3
            shown: control.visualFocus
        }
    }

    // Ids of this file, which only Qt 6.5 can bind for the components inside it.
    // qmllint disable unqualified
    delegate: T.ItemDelegate {
        id: option

        required property string modelData
        required property int index

        width: ListView.view.width
        implicitHeight: Theme.controlHeight
        leftPadding: Theme.spacingSmall + 2
        rightPadding: Theme.spacingSmall
        highlighted: control.highlightedIndex === index
        hoverEnabled: true
        Accessible.name: modelData

        contentItem: Text {
            text: option.modelData
            textFormat: Text.PlainText
            elide: Text.ElideRight
            verticalAlignment: Text.AlignVCenter
            color: control.currentIndex === option.index ? Theme.accentText : Theme.text
            font: control.font
        }
        background: Rectangle {
            radius: Theme.radiusSmall
            color: option.highlighted ? Theme.hover : "transparent"
        }
    }
    // qmllint enable unqualified

    popup: T.Popup {
        y: control.height + 2
        width: control.width
        implicitHeight: contentItem.implicitHeight + topPadding + bottomPadding
        padding: Theme.spacingTiny
        margins: Theme.spacingSmall

        contentItem: ListView {
            clip: true
            implicitHeight: contentHeight
            model: control.popup.visible ? control.delegateModel : null
            currentIndex: control.highlightedIndex
            boundsBehavior: Flickable.StopAtBounds
        }
        background: Rectangle {
            radius: Theme.radius
            color: Theme.surface
            border.color: Theme.lineStrong
        }
    }
}
