#pragma once

#include <QString>
#include <QStringView>
#include <vector>

#include "app/chat/block_kind.h"

namespace glmchat {

/// One block of a message, shown by one delegate.
struct TextBlock {
    BlockKind::Value kind = BlockKind::Paragraph;
    QString text;      ///< what is shown: no fences, no blank lines around it, no carriage returns
    QString language;  ///< first word after the opening fence; "" when there is none
    bool continued =
        false;         ///< goes on with the paragraph before it, which was cut only to keep layout cheap
    bool open = true;  ///< may still grow
    qsizetype sourceBegin = 0;  ///< where its source starts; it ends where the next block starts
};

/// Cuts a growing text into paragraphs and fenced code blocks.
/// - A blank line outside a fence ends a paragraph. Fences are those of CommonMark (``` or ~~~, at most three
/// spaces of
///   indent, closed by at least as many of the same character); an info string longer than kMaxInfoLength is
///   prose.
/// - Only the last block changes, and its text only grows: a line that may still turn out to be a fence is
/// held back
///   until that is decided, and so is white space at the end.
/// - The sources of all blocks, joined, are the text (unless it is all white space: no blocks).
/// - Work per append() is proportional to what is appended, and laying out the last block stays cheap too: a
/// paragraph
///   is cut after kLongParagraph characters at the next end of a line or sentence, at the latest after
///   kLongestParagraph.
class BlockSplitter {
  public:
    static constexpr qsizetype kMaxInfoLength = 64;
    static constexpr qsizetype kLongestHeldLine = 256;  ///< longer lines are text, whatever they are made of
    static constexpr qsizetype kLongParagraph = 1200;
    static constexpr qsizetype kLongestParagraph = 2400;

    void append(QStringView text);
    /// End of the text: what was held back becomes final. Nothing may be appended afterwards.
    void finish();

    const std::vector<TextBlock>& blocks() const { return m_blocks; }
    const QString& source() const { return m_source; }

  private:
    /// The opening fence of a code block; length 0 in prose.
    struct Fence {
        QChar character;
        qsizetype length = 0;
        qsizetype indent = 0;
    };

    bool inCode() const { return m_fence.length > 0; }
    bool lineIsShown() const { return m_shownEnd > m_lineBegin; }
    void takeLine(qsizetype end, qsizetype nextLine);
    void takeProseLine(QStringView line, qsizetype nextLine);
    void takeCodeLine(QStringView line, qsizetype end);
    void showPartialLine();
    void showProse(qsizetype end);
    void showCode(qsizetype end);
    void appendToParagraph(QStringView text);
    qsizetype paragraphCut(qsizetype end) const;
    bool maySeparate(qsizetype position) const;
    void openBlock(BlockKind::Value kind, qsizetype sourceBegin);
    void closeBlock();

    QString m_source;
    std::vector<TextBlock> m_blocks;
    qsizetype m_lineBegin = 0;  ///< of the line that has no end yet
    qsizetype m_shownEnd = 0;   ///< within that line: what lies before was shown
    QString m_heldSpace;        ///< of the open paragraph: shown when something follows it
    Fence m_fence;
    bool m_codeHasLines = false;  ///< the next line of the open code block starts with a line feed
    bool m_hasOpenBlock = false;  ///< the last block takes what follows
};

}  // namespace glmchat
