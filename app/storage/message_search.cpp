#include "app/storage/message_search.h"

#include <QElapsedTimer>
#include <algorithm>

namespace glmchat {
namespace {

constexpr qsizetype kTrigram = 3;            // code points
constexpr qsizetype kMaxTrigrams = 16;       // of one term; the text itself is compared anyway
constexpr int kMaxSortedCandidates = 20000;  // read in about 10 ms

/// 'A AND B …' for MATCH: trigrams that cover the term. "" when it is shorter than one.
QString trigramExpression(const QString& term) {
    const QList<uint> codes = term.toUcs4();
    QStringList parts;
    for (qsizetype at = 0; at + kTrigram <= codes.size() && parts.size() < kMaxTrigrams;) {
        const auto* first = reinterpret_cast<const char32_t*>(codes.constData() + at);
        parts.append(u'"' + QString::fromUcs4(first, kTrigram).replace(u'"', QStringLiteral("\"\"")) + u'"');
        const qsizetype last = codes.size() - kTrigram;
        at = at == last ? codes.size() : std::min(at + kTrigram, last);
    }
    return parts.join(QStringLiteral(" AND "));
}

SearchHit hitFrom(const QSqlQuery& row, const QString& text, const QStringList& terms) {
    SearchHit hit;
    hit.messageId = row.value(1).toString();
    hit.conversationId = row.value(2).toString();
    hit.author = row.value(3).toInt() == Author::Assistant ? Author::Assistant : Author::User;
    hit.createdMs = row.value(5).toLongLong();
    hit.conversationTitle = row.value(6).toString();
    hit.modelName = row.value(7).toString();
    hit.snippet = makeSnippet(text, terms);
    return hit;
}

}  // namespace

tl::expected<SearchPage, StorageProblem> MessageSearch::page(const SearchQuery& query) {
    SearchPage page;
    const QStringList terms = searchTerms(query.text);
    if (terms.isEmpty()) return page;
    QElapsedTimer timer;
    timer.start();
    const Source source = sourceOf(query, terms);
    QSqlQuery rows = m_sql.run(
        QStringLiteral(
            "SELECT m.number, m.id, m.conversation_id, m.author, m.text, m.created_ms, c.title, "
            "a.model_name FROM message AS m CROSS JOIN conversation AS c ON c.id = m.conversation_id "
            "LEFT JOIN answer AS a ON a.message_id = m.id WHERE %1 AND m.number < ? "
            "AND m.deleted_ms IS NULL AND c.trashed_ms IS NULL AND m.created_ms >= ? "
            "AND m.created_ms < ? AND (? = '' OR a.model_name = ?) ORDER BY m.number DESC")
            .arg(source.condition),
        source.values + QVariantList{query.before, query.fromMs, query.toMs, notNull(query.modelName),
                                     notNull(query.modelName)});
    if (!rows.isActive()) {
        return tl::unexpected(StorageProblem{StorageProblem::Kind::CannotOpen, m_path, m_sql.error().text()});
    }
    while (rows.next()) {
        const QString text = rows.value(4).toString();
        if (containsAll(text, terms)) page.hits.append(hitFrom(rows, text, terms));
        if (page.hits.size() < query.limit && timer.elapsed() < kPageMs) continue;
        page.next = rows.value(0).toLongLong();
        break;
    }
    return page;
}

MessageSearch::Source MessageSearch::sourceOf(const SearchQuery& query, const QStringList& terms) {
    if (!query.conversationId.isEmpty()) {
        return {QStringLiteral("m.conversation_id = ?"), {query.conversationId}};
    }
    QStringList expressions;
    for (const QString& term : terms) {
        const QString expression = trigramExpression(term);
        if (!expression.isEmpty()) expressions.append(expression);
    }
    if (expressions.isEmpty()) return shortTermSource(terms.first());
    return {QStringLiteral("m.number IN (SELECT rowid FROM message_search WHERE message_search MATCH ?)"),
            {expressions.join(QStringLiteral(" AND "))}};
}

MessageSearch::Source MessageSearch::shortTermSource(const QString& term) {
    const QString range = QStringLiteral("SELECT doc FROM message_search_terms WHERE term >= ? AND term < ?");
    const QString first = term.toLower();
    const QString end = first + QString::fromUcs4(U"\U0010FFFF");
    QSqlQuery count =
        m_sql.run(QStringLiteral("SELECT count(*) FROM (%1 LIMIT %2)").arg(range).arg(kMaxSortedCandidates),
                  {first, end});
    const bool isFrequent = !count.next() || count.value(0).toInt() >= kMaxSortedCandidates;
    if (isFrequent) return {QStringLiteral("1"), {}};
    return {QStringLiteral("m.number IN (%1)").arg(range), {first, end}};
}

}  // namespace glmchat
