import QtQuick
import GlmChat.Theme

// Text to read, select and copy, never interpreted. When `source` only grows, just the new end is inserted: a long answer
// stays cheap to stream and a selection made while it grows survives.
TextEdit {
    id: root

    required property string source
    property string shown: ""

    function showSource() {
        const grown = source.startsWith(shown) && !shown.endsWith("\r")
        if (grown)
            insert(length, source.slice(shown.length))
        else
            text = source
        shown = source
    }

    readOnly: true
    selectByMouse: true
    activeFocusOnPress: true
    textFormat: TextEdit.PlainText
    wrapMode: TextEdit.Wrap
    color: Theme.text
    selectionColor: Theme.selection
    selectedTextColor: Theme.selectedText
    font.family: Theme.sansFamily
    font.pixelSize: Theme.messageSize

    Accessible.role: Accessible.StaticText
    Accessible.name: source

    Component.onCompleted: showSource()
    onSourceChanged: showSource()
}
