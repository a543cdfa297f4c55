#pragma once

#include <QString>
#include <QStringView>
#include <vector>

namespace glmchat::markdown {

struct Formula {
    QString source;        ///< between the delimiters, trimmed
    QString written;       ///< with the delimiters, as it stood
    bool display = false;  ///< $$…$$ or \[…\]
};

/// A text in which every formula is one two-character placeholder, so that Markdown does not read what is
/// inside it, and in which no link reference definition disappears. A formula begins and ends outside code,
/// holds no blank line and at most kMaxFormulaLength characters. "$" opens before a character that is no
/// space and closes after one, but not before a digit: "$5 and $10" is no formula. The first placeholder
/// character is a noncharacter; the source must hold none (MarkdownStream replaces them).
class FormulaMask {
  public:
    static constexpr qsizetype kMaxFormulaLength = 2000;
    static constexpr char16_t kPlaceholder = 0xFDD0;
    static constexpr char16_t kNoDefinition =
        0xFDD1;  ///< before a "[" that begins no link reference definition

    explicit FormulaMask(QStringView source);

    const QString& text() const { return m_text; }
    /// Where line `line` (counted from 0) of text() begins in the source.
    qsizetype sourceOfLine(std::size_t line) const;
    /// Where a formula of several lines begins that the source does not end; the length of the source when
    /// there is none.
    qsizetype openFormula() const { return m_openFormula; }

    /// The formula that the placeholder at text[position] stands for, or nullptr.
    const Formula* formulaAt(QStringView text, qsizetype position) const;
    QString restored(QStringView text) const;  ///< as it was written

  private:
    void take(QStringView source, qsizetype from, qsizetype length, qsizetype delimiter, bool display);
    void copy(QStringView source, qsizetype from, qsizetype length);

    QString m_text;
    std::vector<qsizetype> m_lines{0};
    std::vector<Formula> m_formulas;
    qsizetype m_openFormula = 0;
};

}  // namespace glmchat::markdown
