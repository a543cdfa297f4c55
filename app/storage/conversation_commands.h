#pragma once

#include "app/storage/message_tree.h"
#include "app/storage/sql.h"
#include "app/storage/storage_command.h"

namespace glmchat {

/// Does storage commands, inside a transaction that the caller begins and ends. One thread: the connection's.
class ConversationCommands {
  public:
    explicit ConversationCommands(Sql& sql) : m_sql(sql) {}

    /// @return false when a statement failed (Sql::error() says why) or there is nothing to copy
    bool perform(const StorageCommand& command);
    const CommandResult& result() const { return m_result; }

    /// The tree of a conversation; empty when it has no messages or reading failed.
    static MessageTree readTree(Sql& sql, const QString& conversationId);

    /// Deletes conversations and all they hold.
    static bool purge(Sql& sql, const QStringList& conversationIds);

  private:
    bool run(const SetTitle& command);
    bool run(const SetPinned& command);
    bool run(const SetFolder& command);
    bool run(const RenameFolder& command);
    bool run(const SetUnread& command);
    bool run(const SetSystemPrompt& command);
    bool run(const SetView& command);
    bool run(const MoveToTrash& command);
    bool run(const RestoreFromTrash& command);
    bool run(const Purge& command);
    bool run(const Duplicate& command);
    bool run(const Branch& command);
    bool run(const EditMessage& command);
    bool run(const DeleteMessage& command);
    bool run(const RestoreMessage& command);
    bool run(const ChooseMessage& command);
    bool run(const SetMessagePinned& command);

    /// UPDATE conversation SET `assignment` WHERE id is one of `ids` AND `condition`.
    bool updateConversations(const QString& assignment, const QVariantList& values, const QStringList& ids,
                             const QString& condition = QStringLiteral("1"));
    bool copyConversation(const QString& fromId, const QString& title, qint64 nowMs);
    bool copyMessages(const QString& fromConversationId, const QStringList& ids);
    bool activate(const QString& conversationId, const QStringList& messageIds);
    QString conversationOf(const QString& messageId);
    void touchPath(const QString& conversationId);

    Sql& m_sql;
    CommandResult m_result;
};

}  // namespace glmchat
