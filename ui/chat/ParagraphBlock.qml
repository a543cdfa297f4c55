import QtQuick
import GlmChat.Components

Item {
    id: root

    required property string source
    property bool growing: false

    implicitHeight: body.implicitHeight

    SelectableText {
        id: body

        width: root.width
        source: root.source
    }

    StreamCaret {
        visible: root.growing
        textItem: body
    }
}
