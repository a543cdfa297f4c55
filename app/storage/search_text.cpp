#include "app/storage/search_text.h"

#include <QRegularExpression>
#include <algorithm>

namespace glmchat {
namespace {

constexpr qsizetype kLengthBefore = 40;
constexpr qsizetype kSnippetLength = 160;

/// Moves a cut out of the middle of a surrogate pair.
qsizetype wholeCharacter(const QString& text, qsizetype position) {
    const bool splits = position > 0 && position < text.size() && text[position].isLowSurrogate() &&
                        text[position - 1].isHighSurrogate();
    return splits ? position - 1 : position;
}

qsizetype firstMatch(const QString& text, const QStringList& terms) {
    qsizetype first = text.size();
    for (const QString& term : terms) {
        const qsizetype found = text.indexOf(term, 0, Qt::CaseInsensitive);
        if (found >= 0) first = std::min(first, found);
    }
    return first == text.size() ? 0 : first;
}

QList<TextRange> matches(const QString& text, const QStringList& terms) {
    QList<TextRange> found;
    for (const QString& term : terms) {
        for (qsizetype at = text.indexOf(term, 0, Qt::CaseInsensitive); at >= 0;
             at = text.indexOf(term, at + term.size(), Qt::CaseInsensitive)) {
            found.append({at, term.size()});
        }
    }
    std::sort(found.begin(), found.end(),
              [](const TextRange& a, const TextRange& b) { return a.start < b.start; });
    return found;
}

QList<TextRange> merged(const QList<TextRange>& ranges) {
    QList<TextRange> result;
    for (const TextRange& range : ranges) {
        if (!result.isEmpty() && range.start <= result.last().start + result.last().length) {
            TextRange& last = result.last();
            last.length = std::max(last.start + last.length, range.start + range.length) - last.start;
        } else {
            result.append(range);
        }
    }
    return result;
}

}  // namespace

QStringList searchTerms(const QString& text) {
    static const QRegularExpression term(QStringLiteral("\"([^\"]+)\"|([^\\s\"]+)"),
                                         QRegularExpression::UseUnicodePropertiesOption);
    QStringList terms;
    for (auto match = term.globalMatch(text); match.hasNext();) {
        const QRegularExpressionMatch found = match.next();
        terms.append(found.captured(1) + found.captured(2));
    }
    terms.removeDuplicates();
    return terms;
}

bool containsAll(const QString& text, const QStringList& terms) {
    return std::all_of(terms.begin(), terms.end(),
                       [&text](const QString& term) { return text.contains(term, Qt::CaseInsensitive); });
}

Snippet makeSnippet(const QString& text, const QStringList& terms) {
    const qsizetype start =
        wholeCharacter(text, std::max<qsizetype>(0, firstMatch(text, terms) - kLengthBefore));
    const qsizetype end = wholeCharacter(text, std::min(text.size(), start + kSnippetLength));
    Snippet snippet{text.mid(start, end - start), {}};
    for (QChar& character : snippet.text) {
        if (character.isSpace() || character.unicode() < 0x20) character = u' ';
    }
    if (start > 0) snippet.text.prepend(QChar(0x2026));
    if (end < text.size()) snippet.text.append(QChar(0x2026));
    snippet.highlights = merged(matches(snippet.text, terms));
    return snippet;
}

}  // namespace glmchat
