#pragma once

#include <QString>
#include <QStringList>
#include <vector>

namespace glmchat::markdown {

enum class BlockKind { Paragraph, Heading, Code, Table, Formula, Rule };

/// The space above a block.
enum class Gap { None, Tight, Normal };

/// One block of a Markdown text, flattened: quotes and lists are not blocks but the nesting of those inside
/// them.
struct Block {
    BlockKind kind = BlockKind::Paragraph;
    QString text = {};    ///< plain text: what is read aloud; of code and formulas the clean source
    QString markup = {};  ///< paragraphs and headings: see inline_markup.h
    int level = 0;        ///< of a heading: 1..6
    QString nesting =
        {};  ///< outermost first, one letter each: 'q' a block quote, 'l' a list; at most kMaxNesting
    QString marker = {};    ///< of the list item this block begins: "•", "7.", "☐", "☑"; else ""
    QString language = {};  ///< first word of a fence's info string; "" when there is none
    std::vector<QStringList> rows = {};  ///< of a table: the markup of each cell; the first row is the head
    QString alignments = {};             ///< of a table: one letter a column: 'l', 'c', 'r', or ' ' for none
    Gap gap = Gap::Normal;
    bool open = false;  ///< may still grow

    bool operator==(const Block&) const = default;
};

inline constexpr qsizetype kMaxNesting = 16;

}  // namespace glmchat::markdown
