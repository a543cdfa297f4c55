#pragma once

#include <QSqlError>
#include <QSqlQuery>

#include <tl/expected.hpp>

#include "app/storage/database.h"
#include "app/storage/records.h"

namespace glmchat {

/// Reads and writes conversations. One thread: the database's.
class ConversationStore {
  public:
    explicit ConversationStore(std::unique_ptr<Database> database);

    /// Writes a conversation's row and the given messages (parents before children) in one transaction: all
    /// or nothing. A message that is written becomes the active one among its siblings. When this returns
    /// without an error, it is on the disk. Errors: DiskFull, CannotWrite.
    tl::expected<void, StorageProblem> save(const ConversationRecord& conversation,
                                            const QList<MessageRecord>& messages);

    /// The conversation that was open last and has a message or a draft. Answers that were running when the
    /// program ended come back as stopped. Errors: CannotOpen.
    tl::expected<ConversationSnapshot, StorageProblem> loadLast();

  private:
    bool saveConversation(const ConversationRecord& conversation);
    bool saveMessage(const QString& conversationId, const MessageRecord& message);
    bool saveAnswer(const QString& messageId, const AnswerRecord& answer);
    bool loadMessages(ConversationSnapshot& snapshot);
    bool run(QSqlQuery& query);
    StorageProblem writeProblem(const QSqlError& error) const;

    const std::unique_ptr<Database> m_database;
    QSqlError m_error;  ///< of the statement that failed
};

}  // namespace glmchat
