import QtQml.Models
import GlmChat.App

// Rows as the real model gives them; a block is a paragraph, or code where it has a language.
ListModel {
    id: root

    dynamicRoles: false

    function paragraph(text: string): var {
        return { kind: BlockKind.Paragraph, text: text, language: "", open: false, continued: false }
    }
    function code(text: string, language: string): var {
        return { kind: BlockKind.Code, text: text, language: language, open: false, continued: false }
    }

    function addUser(text: string) {
        add(Author.User, text, [paragraph(text)], MessageStatus.Complete, "", "")
    }
    function addAnswer(text: string, blocks: var, caption: string) {
        add(Author.Assistant, text, blocks ?? [paragraph(text)], MessageStatus.Complete, "", caption ?? "")
    }
    function addPending() {
        add(Author.Assistant, "", [], MessageStatus.Pending, "", "")
    }

    function add(author: int, text: string, blocks: var, status: int, statusText: string, caption: string) {
        if (count > 0)
            setProperty(count - 1, "isLast", false)
        append({ messageId: String(count), author: author, text: text, blocks: blocks, status: status,
                 statusText: statusText, captionText: caption, isLast: true })
    }

    // The last answer grows by `text`, in its last block.
    function stream(text: string) {
        const row = count - 1
        const blocks = get(row).blocks
        setProperty(row, "status", MessageStatus.Streaming)
        setProperty(row, "text", get(row).text + text)
        if (blocks.count === 0)
            blocks.append(paragraph(text))
        else
            blocks.setProperty(blocks.count - 1, "text", blocks.get(blocks.count - 1).text + text)
    }

    function finish(status: int, statusText: string, caption: string) {
        setProperty(count - 1, "status", status)
        setProperty(count - 1, "statusText", statusText)
        setProperty(count - 1, "captionText", caption)
    }
}
