import QtQuick
import GlmChat.Theme

// Before the first token: one quiet line with the real progress of reading the prompt.
Text {
    color: Theme.muted
    textFormat: Text.PlainText
    wrapMode: Text.Wrap
    font.family: Theme.sansFamily
    font.pixelSize: Theme.messageSize
}
