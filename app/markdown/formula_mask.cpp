#include "app/markdown/formula_mask.h"

#include <algorithm>

namespace glmchat::markdown {
namespace {

constexpr char16_t kFirstIndex =
    0xE000;  // private use: 6,400 formulas, more than a unit of the stream has room for
constexpr std::size_t kMaxFormulas = 6400;

qsizetype runLength(QStringView text, qsizetype from) {
    qsizetype end = from;
    while (end < text.size() && text[end] == text[from]) ++end;
    return end - from;
}

/// The length of the code at `from`, a backtick; of the backticks alone when nothing closes it.
qsizetype codeLength(QStringView text, qsizetype from) {
    const qsizetype ticks = runLength(text, from);
    qsizetype at = from + ticks;
    while ((at = text.indexOf(u'`', at)) >= 0) {
        const qsizetype closing = runLength(text, at);
        at += closing;
        if (closing == ticks) return at - from;
    }
    return ticks;
}

bool blankLineAt(QStringView text, qsizetype lineFeed) {
    for (qsizetype at = lineFeed + 1; at < text.size(); ++at) {
        if (text[at] == u'\n') return true;
        if (!text[at].isSpace()) return false;
    }
    return false;
}

/// A link reference definition, which Markdown would take out of the text: `[label]: target`.
bool beginsDefinition(QStringView text, qsizetype bracket) {
    qsizetype begin = bracket;
    while (begin > 0 && text[begin - 1] == u' ') --begin;
    if (begin > 0 && text[begin - 1] != u'\n') return false;
    const qsizetype close = text.indexOf(u"]:", bracket);
    return close >= 0 && !text.sliced(bracket, close - bracket).contains(u'\n');
}

enum class Search { Found, Unfinished, None };

struct Close {
    Search search = Search::None;
    qsizetype end = 0;  ///< after the closing delimiter
};

bool closesDollar(QStringView text, qsizetype at) {
    const bool digitAfter = at + 1 < text.size() && text[at + 1].isDigit();
    return !text[at - 1].isSpace() && text[at - 1] != u'\\' && !digitAfter;
}

Close findClose(QStringView text, qsizetype from, QStringView delimiter) {
    const bool single = delimiter == u"$";
    const qsizetype limit = std::min(text.size(), from + FormulaMask::kMaxFormulaLength);
    for (qsizetype at = from; at < limit; ++at) {
        if (text[at] == u'\n' && (single || blankLineAt(text, at))) return {};
        if (!text.sliced(at).startsWith(delimiter)) continue;
        if (single && !closesDollar(text, at)) continue;
        if (at > from) return {Search::Found, at + delimiter.size()};
    }
    return {limit == text.size() && !single ? Search::Unfinished : Search::None, 0};
}

struct Opening {
    QStringView open;
    QStringView close;
    bool display;
};

const Opening* openingAt(QStringView text, qsizetype at) {
    static constexpr Opening kOpenings[] = {
        {u"$$", u"$$", true}, {u"\\[", u"\\]", true}, {u"\\(", u"\\)", false}, {u"$", u"$", false}};
    const QStringView rest = text.sliced(at);
    for (const Opening& opening : kOpenings) {
        if (!rest.startsWith(opening.open)) continue;
        const qsizetype inside = opening.open.size();
        const bool dollar = opening.open == u"$";
        if (dollar && (inside == rest.size() || rest[inside].isSpace())) return nullptr;
        return &opening;
    }
    return nullptr;
}

}  // namespace

FormulaMask::FormulaMask(QStringView source) : m_openFormula(source.size()) {
    qsizetype at = 0;
    while (at < source.size()) {
        qsizetype length = 1;
        if (source[at] == u'`') {
            length = codeLength(source, at);
        } else if (const Opening* opening = openingAt(source, at)) {
            const Close close = findClose(source, at + opening->open.size(), opening->close);
            if (close.search == Search::Found && m_formulas.size() < kMaxFormulas) {
                take(source, at, close.end - at, opening->open.size(), opening->display);
                at = close.end;
                continue;
            }
            if (close.search == Search::Unfinished) m_openFormula = std::min(m_openFormula, at);
            length = opening->open.size();
        } else if (source[at] == u'\\' && at + 1 < source.size()) {
            length = 2;
        }
        copy(source, at, length);
        at += length;
    }
}

void FormulaMask::take(QStringView source, qsizetype from, qsizetype length, qsizetype delimiter,
                       bool display) {
    const QStringView written = source.sliced(from, length);
    const QStringView inside = written.sliced(delimiter, length - 2 * delimiter);
    m_text += QChar(kPlaceholder);
    m_text += QChar(static_cast<char16_t>(kFirstIndex + m_formulas.size()));
    m_formulas.push_back({inside.trimmed().toString(), written.toString(), display});
}

void FormulaMask::copy(QStringView source, qsizetype from, qsizetype length) {
    for (qsizetype at = from; at < from + length; ++at) {
        if (source[at] == u'[' && beginsDefinition(source, at)) m_text += QChar(kNoDefinition);
        m_text += source[at];
        if (source[at] == u'\n') m_lines.push_back(at + 1);
    }
}

qsizetype FormulaMask::sourceOfLine(std::size_t line) const {
    return m_lines[std::min(line, m_lines.size() - 1)];
}

const Formula* FormulaMask::formulaAt(QStringView text, qsizetype position) const {
    if (text[position] != QChar(kPlaceholder) || position + 1 >= text.size()) return nullptr;
    const auto index = static_cast<std::size_t>(text[position + 1].unicode() - kFirstIndex);
    return index < m_formulas.size() ? &m_formulas[index] : nullptr;
}

QString FormulaMask::restored(QStringView text) const {
    QString written;
    for (qsizetype at = 0; at < text.size(); ++at) {
        if (const Formula* formula = formulaAt(text, at)) {
            written += formula->written;
            ++at;
        } else if (text[at] != QChar(kNoDefinition)) {
            written += text[at];
        }
    }
    return written;
}

}  // namespace glmchat::markdown
