#pragma once

#include <QList>
#include <QString>
#include <QStringList>

namespace glmchat {

/// A part of a text, in UTF-16 units.
struct TextRange {
    qsizetype start = 0;
    qsizetype length = 0;
    bool operator==(const TextRange&) const = default;
};

/// Part of a text around the first thing found, one line, with what is to be highlighted in it.
struct Snippet {
    QString text;
    QList<TextRange> highlights;  ///< in order, not overlapping
};

/// What a user looks for: words apart from each other, "…" around a phrase. Case does not matter.
QStringList searchTerms(const QString& text);

/// Whether `text` holds every term.
bool containsAll(const QString& text, const QStringList& terms);

/// @param terms at least one of them is in `text`
Snippet makeSnippet(const QString& text, const QStringList& terms);

}  // namespace glmchat
