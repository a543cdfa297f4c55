import QtQuick
import GlmChat.App
import GlmChat.Theme

// An answer: its blocks one under the other, as plain text on the background. Of a growing answer only the last block
// changes.
Column {
    id: root

    required property string source
    required property var blocks
    required property int status
    required property string statusText
    required property string captionText
    required property string pendingText
    required property bool canRegenerate
    required property bool hovered

    signal copyRequested()
    signal copyTextRequested(string text)
    signal regenerateRequested()

    readonly property bool growing: status === MessageStatus.Streaming
    readonly property bool pending: status === MessageStatus.Pending

    Accessible.role: Accessible.Grouping
    Accessible.name: qsTr("Answer")

    // Ids of this file, which only Qt 6.5 can bind for the components inside it.
    // qmllint disable unqualified
    Repeater {
        id: blockRepeater

        model: root.blocks

        Item {
            id: block

            required property int index
            required property int kind
            required property string text
            required property string language
            required property bool continued  // the same paragraph goes on, in a block of its own

            readonly property bool growing: root.growing && index === blockRepeater.count - 1
            readonly property real gap: index === 0 || continued ? 0 : Theme.spacing

            width: root.width
            implicitHeight: gap + content.height

            Loader {
                id: content

                y: block.gap
                width: parent.width
                sourceComponent: block.kind === BlockKind.Code ? codeBlock : paragraphBlock
            }
            Component {
                id: paragraphBlock

                ParagraphBlock {
                    source: block.text
                    growing: block.growing
                }
            }
            Component {
                id: codeBlock

                CodeBlock {
                    source: block.text
                    language: block.language
                    growing: block.growing
                    onCopyRequested: text => root.copyTextRequested(text)
                }
            }
        }
    }
    // qmllint enable unqualified

    PrefillLine {
        width: root.width
        visible: root.pending
        text: root.pendingText
    }

    AnswerFooter {
        width: root.width
        topMargin: root.pending || blockRepeater.count > 0 ? Theme.spacingTiny : 0
        statusText: root.statusText
        captionText: root.captionText
        finished: !root.growing && !root.pending
        canCopy: root.source !== ""
        canRegenerate: root.canRegenerate
        hovered: root.hovered
        retry: root.canRegenerate && (root.source === "" || root.status === MessageStatus.Failed)
        onCopyRequested: root.copyRequested()
        onRegenerateRequested: root.regenerateRequested()
    }
}
