#pragma once

#include <QString>
#include <QStringView>
#include <vector>

#include "app/markdown/block.h"
#include "app/markdown/unit_parser.h"

namespace glmchat::markdown {

/// The blocks of a Markdown text (CommonMark with GFM's tables, task lists, strikethrough and autolinks, and
/// formulas) that arrives piece by piece.
/// - The text is cut into units: top-level blocks and items of top-level lists. Units before the last one are
/// final; only
///   the last one is read again, so the work per append() does not depend on what came before.
/// - In the end the blocks are those of the whole text at once, however it was cut into pieces.
/// - Units longer than kLongUnit are cut at the end of a line, lines longer than kLongLine after a sentence.
/// - Link reference definitions are not followed: they may come after what they change.
/// - Carriage returns become line feeds; control characters, NUL and noncharacters U+FFFD.
class MarkdownStream {
  public:
    static constexpr qsizetype kLongUnit = 8000;
    static constexpr qsizetype kLongLine = 2000;
    static constexpr qsizetype kLongestLine = 4000;

    void append(QStringView text);
    /// End of the text. Nothing may be appended afterwards.
    void finish();

    const std::vector<Block>& blocks() const { return m_blocks; }
    std::size_t numFinal() const { return m_numFinal; }  ///< the first blocks, which do not change any more

  private:
    /// The opening fence of the code block that is being read; length 0 outside one.
    struct Fence {
        QChar character;
        qsizetype length = 0;
        qsizetype indent = 0;
    };

    struct Window {
        qsizetype end;
        bool mustEnd;  ///< the open unit ends there even if nothing in the text says so
    };

    void take(QStringView text);
    void closeUnits(bool isEnd);
    void skipBlankLines();
    bool openFence(bool isEnd);
    bool takeCode(bool isEnd);
    void closeCode();
    bool closeNextUnits(bool isEnd);
    Window nextWindow(bool isEnd) const;
    qsizetype longLineCut(qsizetype lineBegin, qsizetype lineEnd) const;
    void closeUnit(qsizetype end, bool nextInList);
    ParsedUnit readUnit(QStringView source) const;
    void showOpenUnit();

    QString m_text;
    qsizetype m_begin = 0;       ///< of the open unit, or of the open code block's next line
    qsizetype m_checkedEnd = 0;  ///< up to there the open unit is known to be one
    std::vector<Block> m_blocks;
    std::size_t m_numFinal = 0;
    Fence m_fence;
    qsizetype m_codeEnd = 0;  ///< of the text of the open code block: its whole lines
    bool m_codeHasLines = false;
    bool m_inList = false;     ///< the open unit goes on with a list
    bool m_continued = false;  ///< the open unit goes on with a unit that was too long
    bool m_blankBefore = true;
    int m_nextNumber = -1;      ///< of the item that the open unit begins with
    bool m_heldReturn = false;  ///< the last character was a carriage return
};

}  // namespace glmchat::markdown
