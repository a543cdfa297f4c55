#pragma once

#include <QList>
#include <QString>
#include <QStringList>
#include <limits>

#include <tl/expected.hpp>

#include "app/chat/message_enums.h"
#include "app/storage/database.h"
#include "app/storage/search_text.h"
#include "app/storage/sql.h"

namespace glmchat {

struct SearchQuery {
    static constexpr qint64 kNewest = std::numeric_limits<qint64>::max();

    QString text;
    QString conversationId = {};  ///< "" = all that are not in the trash
    QString modelName = {};       ///< "" = any; else only answers of this model
    qint64 fromMs = 0;            ///< messages written in [fromMs, toMs)
    qint64 toMs = kNewest;
    qint64 before = kNewest;  ///< SearchPage::next of the page before
    int limit = 50;
};

struct SearchHit {
    QString conversationId;
    QString conversationTitle;
    QString messageId;  ///< to jump to, with ChooseMessage when it is on another branch
    QString modelName;
    Author::Value author = Author::User;
    qint64 createdMs = 0;
    Snippet snippet;
};

struct SearchPage {
    QList<SearchHit> hits;  ///< newest first
    qint64 next = 0;        ///< SearchQuery::before of the next page; 0 = there is none
};

/// Finds messages by any part of their text, in any script: from three characters on by the index of
/// trigrams, one and two by the range of trigrams that begin with them; when those are too many to be sorted,
/// by looking through the newest messages first, where a frequent character is soon met. The text itself
/// decides in the end. A page takes at most about kPageMs, so that saving never waits long: then it comes
/// back short, with `next` to go on from. One thread: the database's.
class MessageSearch {
  public:
    static constexpr int kPageMs = 50;

    explicit MessageSearch(const Database& database) : m_path(database.path()), m_sql(database.sql()) {}

    /// Empty for a query without terms. Errors: CannotOpen.
    tl::expected<SearchPage, StorageProblem> page(const SearchQuery& query);

  private:
    /// A part of a SELECT over message m, conversation c and answer a.
    struct Source {
        QString condition;
        QVariantList values;
    };

    Source sourceOf(const SearchQuery& query, const QStringList& terms);
    Source shortTermSource(const QString& term);

    const QString m_path;
    Sql m_sql;
};

}  // namespace glmchat
