#pragma once

#include <memory>

#include <tl/expected.hpp>

#include "app/storage/database.h"
#include "app/storage/message_tree.h"
#include "app/storage/records.h"
#include "app/storage/sql.h"
#include "app/storage/storage_command.h"

namespace glmchat {

/// Reads and writes conversations. One thread: the database's.
class ConversationStore {
  public:
    explicit ConversationStore(std::unique_ptr<Database> database);

    /// Writes a conversation's row and the given messages (parents before children) in one transaction: all
    /// or nothing. A new message becomes the active one among its siblings; a known one only gets its new
    /// text and state. When this returns without an error, it is on the disk. Errors: DiskFull, CannotWrite.
    tl::expected<void, StorageProblem> save(const ConversationRecord& conversation,
                                            const QList<MessageRecord>& messages);

    /// Changes one or more conversations in one transaction, as save(). Unknown ids are passed over, except
    /// where something is to be copied. Errors: DiskFull, CannotWrite.
    tl::expected<CommandResult, StorageProblem> apply(const StorageCommand& command);

    /// The conversation that was open last, has a message or a draft, and is not in the trash. Answers that
    /// were running when the program ended come back as stopped. Errors: CannotOpen.
    tl::expected<ConversationSnapshot, StorageProblem> loadLast();

    /// Empty when there is none of this id. Errors: CannotOpen.
    tl::expected<ConversationSnapshot, StorageProblem> load(const QString& conversationId);

    /// Once after opening: answers a killed program left half done become stopped (and findable), what has
    /// been in the trash longer than kTrashDays is gone for good. Errors: DiskFull, CannotWrite.
    tl::expected<void, StorageProblem> tidy(qint64 nowMs);

    const Database& database() const { return *m_database; }

  private:
    bool saveConversation(const ConversationRecord& conversation, const QList<MessageRecord>& messages);
    bool saveMessage(const QString& conversationId, const MessageRecord& message);
    bool insertMessage(const QString& conversationId, const MessageRecord& message);
    bool saveAnswer(const QString& messageId, const AnswerRecord& answer);
    tl::expected<ConversationSnapshot, StorageProblem> loadWhere(const QString& condition,
                                                                 const QVariantList& values);
    bool loadMessages(ConversationSnapshot& snapshot);

    const std::unique_ptr<Database> m_database;
    Sql m_sql;
};

}  // namespace glmchat
