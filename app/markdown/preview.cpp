#include "app/markdown/preview.h"

#include <algorithm>

namespace glmchat::markdown {
namespace {

bool consistsOf(QStringView text, QStringView characters) {
    return std::all_of(text.begin(), text.end(), [&](QChar c) { return characters.contains(c); });
}

/// A line of marks alone, or the line of a fence: what it is, its end will tell.
bool isUndecided(QStringView line) {
    const QStringView mark = line.trimmed();
    if (mark.startsWith(u"```") || mark.startsWith(u"~~~")) return true;
    if (consistsOf(mark, u"`~#-=*_+>[] xX$\\")) return true;
    return mark.endsWith(u'.') && consistsOf(mark.chopped(1), u"0123456789");
}

qsizetype lastLineBegin(QStringView text) {
    return text.lastIndexOf(u'\n') + 1;
}

/// The delimiter row for a head like `| a | b`.
QString delimiterRow(QStringView head) {
    QStringView cells = head.trimmed();
    if (cells.size() > 1 && cells.endsWith(u'|')) cells.chop(1);
    QString row;
    for (qsizetype i = cells.count(u'|'); i > 0; --i) row += u"|-";
    return row + u'|';
}

/// A paragraph of one line that begins with "|" is the head of a table, until something else comes.
QString withTableHead(const QString& text) {
    qsizetype begin = lastLineBegin(text);
    QStringView last = QStringView(text).sliced(begin);
    qsizetype headEnd = text.size();
    if (begin > 0 && last.startsWith(u'|') && consistsOf(last, u"|-: ")) {
        headEnd = begin - 1;
        begin = lastLineBegin(QStringView(text).first(headEnd));
    } else if (last.isEmpty() && begin > 0) {
        headEnd = begin - 1;
        begin = lastLineBegin(QStringView(text).first(headEnd));
    }
    const QStringView head = QStringView(text).sliced(begin, headEnd - begin);
    const bool afterBlank = begin == 0 || (begin > 1 && text[begin - 2] == u'\n');
    if (!head.startsWith(u'|') || head.contains(u'`') || !afterBlank) return text;
    return text.first(headEnd) + u'\n' + delimiterRow(head) + u'\n';
}

/// Closes "**" and "`" of the last line.
QString withClosedMarks(QString text) {
    const QStringView line = QStringView(text).sliced(lastLineBegin(text));
    if (line.count(u'`') % 2 == 1) return text + u'`';
    if (line.count(u"**") % 2 == 0) return text;
    if (text.endsWith(u'*') && !text.endsWith(u"**")) text.chop(1);  // half of the closing mark
    while (text.endsWith(u' ')) text.chop(1);
    if (text.endsWith(u"**")) return text.chopped(2);
    return text + QStringLiteral("**");
}

}  // namespace

QString previewText(QStringView source) {
    const qsizetype begin = lastLineBegin(source);
    if (isUndecided(source.sliced(begin))) source = source.first(begin);
    const QString text = source.toString();
    const QString withHead = withTableHead(text);
    return withHead == text ? withClosedMarks(text) : withHead;
}

}  // namespace glmchat::markdown
