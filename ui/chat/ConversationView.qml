import QtQuick
import GlmChat.App
import GlmChat.Theme
import GlmChat.Components

// The conversation. `sticking` says whether the view follows the end of the text: only a scroll upward by the user ends
// it, and being near the end again, sending or "Jump to latest" starts it. While it does not stick, nothing that is being
// read moves by a pixel.
FocusScope {
    id: root

    required property ChatSession session
    required property Preferences preferences

    property bool sticking: true

    readonly property int stickDistance: 24
    readonly property alias listView: list

    signal regenerateRequested()

    function jumpToLatest() {
        list.cancelFlick()
        sticking = true
        follow()
    }

    // The contentY that shows the end.
    function endY(): real {
        return Math.max(list.originY, list.originY + list.contentHeight - list.height)
    }

    // Positioning makes rows, whose heights settle only afterwards: the rest of the way is gone in a second step.
    function follow() {
        if (!sticking || list.count === 0)
            return
        if (list.itemAtIndex(list.count - 1) === null)
            list.positionViewAtEnd()
        list.contentY = endY()
        secondStep.start()
    }

    // The height of rows that do not exist is a guess, so being at the end needs the last row to exist.
    function isNearEnd(): bool {
        return list.count === 0 || (list.itemAtIndex(list.count - 1) !== null
                                    && endY() - list.contentY <= stickDistance)
    }

    function scrollBy(distance: real) {
        list.cancelFlick()
        if (distance < 0 && !list.atYBeginning)
            sticking = false
        list.contentY = Math.min(endY(), Math.max(list.originY, list.contentY + distance))
        if (distance > 0 && isNearEnd())
            sticking = true
    }

    function scrollByPages(pages: real) {
        scrollBy(pages * Math.max(40, list.height - 40))
    }

    function scrollToStart() {
        sticking = false
        list.positionViewAtBeginning()
    }

    activeFocusOnTab: true
    Accessible.role: Accessible.Pane
    Accessible.name: qsTr("Conversation")

    Keys.onUpPressed: scrollBy(-60)
    Keys.onDownPressed: scrollBy(60)
    Keys.onPressed: event => {
        event.accepted = true
        if (event.key === Qt.Key_PageUp)
            scrollByPages(-1)
        else if (event.key === Qt.Key_PageDown)
            scrollByPages(1)
        else if (event.key === Qt.Key_Home)
            scrollToStart()
        else if (event.key === Qt.Key_End)
            jumpToLatest()
        else
            event.accepted = false
    }

    Timer {
        id: secondStep
        interval: 0
        onTriggered: {
            if (root.sticking && list.count > 0)
                list.contentY = root.endY()
        }
    }

    ListView {
        id: list

        // What the last look at the view saw, to tell a scroll from a change of layout.
        property real seenY: 0
        property real seenContentHeight: 0
        property real seenHeight: 0

        readonly property bool movedByUser: moving || bar.pressed

        function look() {
            const sameLayout = contentHeight >= seenContentHeight && height === seenHeight
            if (movedByUser && sameLayout && contentY < seenY)
                root.sticking = false
            else if (movedByUser && contentY > seenY && root.isNearEnd())
                root.sticking = true
            seenY = contentY
            seenContentHeight = contentHeight
            seenHeight = height
        }

        anchors.fill: parent
        focus: true
        model: root.session.messages
        spacing: Theme.spacingHuge
        // Rows around the visible ones are made while nothing else happens: scrolling stays smooth, and the height of a
        // usual conversation is known, not guessed.
        cacheBuffer: 12000
        clip: true
        boundsBehavior: Flickable.StopAtBounds
        keyNavigationEnabled: false
        currentIndex: -1
        highlightFollowsCurrentItem: false

        header: Item {
            height: Theme.spacingHuge
        }
        footer: Item {
            height: Theme.spacingSmall
        }

        // Ids of this file, which only Qt 6.5 can bind for the components inside it.
        // qmllint disable unqualified
        delegate: MessageDelegate {
            width: list.width
            session: root.session
            preferences: root.preferences
            onRegenerateRequested: root.regenerateRequested()
        }
        // qmllint enable unqualified

        ScrollBar.vertical: ScrollBar {
            id: bar
        }

        onContentYChanged: look()
        onContentHeightChanged: root.follow()
        onHeightChanged: root.follow()
        onWidthChanged: root.follow()
        onMovementEnded: {
            if (root.isNearEnd())
                root.sticking = true
        }
        onCountChanged: {
            if (count === 0)
                root.sticking = true
            root.follow()
        }

        // A turn of the wheel counts before its animation has moved anything: text that arrives in between must not pull
        // the view back to the end.
        WheelHandler {
            target: null
            blocking: false
            onWheel: event => {
                if (event.angleDelta.y > 0 && !list.atYBeginning)
                    root.sticking = false
            }
        }
    }

    Rectangle {
        anchors.fill: parent
        anchors.margins: 2
        visible: root.activeFocus && list.activeFocus
        color: "transparent"
        radius: Theme.radius
        border.width: 2
        border.color: Theme.accent
    }

    Button {
        id: jumpButton

        anchors.horizontalCenter: parent.horizontalCenter
        anchors.bottom: parent.bottom
        anchors.bottomMargin: Theme.spacing
        visible: !root.sticking && !list.atYEnd
        iconName: "arrow-down"
        text: root.session.generating ? qsTr("New text below") : qsTr("Jump to latest")
        onClicked: root.jumpToLatest()
    }
}
