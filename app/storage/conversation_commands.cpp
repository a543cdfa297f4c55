#include "app/storage/conversation_commands.h"

#include <QUuid>
#include <QVariant>
#include <algorithm>

namespace glmchat {
namespace {

QString newId() {
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

}  // namespace

bool ConversationCommands::perform(const StorageCommand& command) {
    m_result = {};
    return std::visit([this](const auto& what) { return run(what); }, command);
}

MessageTree ConversationCommands::readTree(Sql& sql, const QString& conversationId) {
    QList<MessageTree::Node> nodes;
    QSqlQuery query =
        sql.run(QStringLiteral("SELECT id, parent_id, is_active, deleted_ms IS NOT NULL FROM message "
                               "WHERE conversation_id = ? ORDER BY sibling_order, number"),
                {conversationId});
    while (query.next()) {
        nodes.append({query.value(0).toString(), query.value(1).toString(), query.value(2).toBool(),
                      query.value(3).toBool()});
    }
    return MessageTree(nodes);
}

/// The tree is taken apart first: deleting along it would nest as deep as the conversation is long.
bool ConversationCommands::purge(Sql& sql, const QStringList& conversationIds) {
    return std::all_of(conversationIds.begin(), conversationIds.end(), [&sql](const QString& id) {
        return sql.done(QStringLiteral("UPDATE message SET parent_id = NULL, is_active = 0 "
                                       "WHERE conversation_id = ?"),
                        {id}) &&
               sql.done(QStringLiteral("DELETE FROM message WHERE conversation_id = ?"), {id}) &&
               sql.done(QStringLiteral("DELETE FROM conversation WHERE id = ?"), {id});
    });
}

bool ConversationCommands::run(const SetTitle& command) {
    const int source = static_cast<int>(command.source);
    return updateConversations(QStringLiteral("title = ?, title_source = ?"),
                               {storedText(command.title), source}, {command.conversationId},
                               QStringLiteral("title_source <= %1").arg(source));
}

bool ConversationCommands::run(const SetPinned& command) {
    return updateConversations(QStringLiteral("pinned = ?"), {command.pinned}, command.conversationIds);
}

bool ConversationCommands::run(const SetFolder& command) {
    return updateConversations(QStringLiteral("folder = ?"), {storedText(command.folder)},
                               command.conversationIds);
}

bool ConversationCommands::run(const RenameFolder& command) {
    QSqlQuery query =
        m_sql.run(QStringLiteral("SELECT id FROM conversation WHERE folder = ? AND folder <> ''"),
                  {storedText(command.from)});
    if (!query.isActive()) return false;
    QStringList ids;
    while (query.next()) ids.append(query.value(0).toString());
    return updateConversations(QStringLiteral("folder = ?"), {storedText(command.to)}, ids);
}

bool ConversationCommands::run(const SetUnread& command) {
    return updateConversations(QStringLiteral("unread = ?"), {command.unread}, command.conversationIds);
}

bool ConversationCommands::run(const SetSystemPrompt& command) {
    return updateConversations(QStringLiteral("system_prompt = ?"), {storedText(command.text)},
                               {command.conversationId});
}

bool ConversationCommands::run(const SetView& command) {
    return m_sql.done(QStringLiteral("UPDATE conversation SET scroll_message_id = ?, scroll_offset = ?, "
                                     "selected_message_id = ? WHERE id = ?"),
                      {notNull(command.scrollMessageId), command.scrollOffset,
                       notNull(command.selectedMessageId), command.conversationId});
}

bool ConversationCommands::run(const MoveToTrash& command) {
    return updateConversations(QStringLiteral("trashed_ms = ?"), {command.nowMs}, command.conversationIds,
                               QStringLiteral("trashed_ms IS NULL"));
}

bool ConversationCommands::run(const RestoreFromTrash& command) {
    return updateConversations(QStringLiteral("trashed_ms = NULL"), {}, command.conversationIds);
}

bool ConversationCommands::run(const Purge& command) {
    m_result.removedIds = command.conversationIds;
    return purge(m_sql, command.conversationIds);
}

bool ConversationCommands::run(const Duplicate& command) {
    QSqlQuery query =
        m_sql.run(QStringLiteral("SELECT id FROM message WHERE conversation_id = ? ORDER BY number"),
                  {command.conversationId});
    QStringList ids;
    while (query.next()) ids.append(query.value(0).toString());
    return query.isActive() && copyConversation(command.conversationId, command.title, command.nowMs) &&
           copyMessages(command.conversationId, ids);
}

bool ConversationCommands::run(const Branch& command) {
    const QString conversationId = conversationOf(command.messageId);
    QStringList ids = readTree(m_sql, conversationId).lineage(command.messageId);
    std::reverse(ids.begin(), ids.end());
    if (!copyConversation(conversationId, command.title, command.nowMs) ||
        !copyMessages(conversationId, ids)) {
        return false;
    }
    return m_sql.done(QStringLiteral("UPDATE message SET is_active = 1 WHERE conversation_id = ?"),
                      {m_result.newConversationId}) &&
           m_sql.done(QStringLiteral("UPDATE conversation SET draft = '' WHERE id = ?"),
                      {m_result.newConversationId});
}

bool ConversationCommands::run(const EditMessage& command) {
    const QString conversationId = conversationOf(command.messageId);
    if (conversationId.isEmpty()) return true;
    m_result.newMessageId = newId();
    touchPath(conversationId);
    return m_sql.done(QStringLiteral(
                          "INSERT INTO message (id, conversation_id, parent_id, sibling_order, is_active, "
                          "author, status, text, created_ms, changed_ms) "
                          "SELECT ?, conversation_id, parent_id, (SELECT max(sibling_order) + 1 FROM "
                          "message AS m WHERE m.conversation_id = message.conversation_id AND m.parent_id "
                          "IS message.parent_id), 0, author, 0, ?, ?, ? FROM message WHERE id = ?"),
                      {m_result.newMessageId, storedText(command.text), command.nowMs, command.nowMs,
                       command.messageId}) &&
           m_sql.done(
               QStringLiteral(
                   "INSERT INTO answer (message_id, model_name, precision, device, temperature, top_p, "
                   "top_k, repetition_penalty, max_new_tokens, context_size, seed, num_prompt_tokens, "
                   "num_reused_tokens, num_new_tokens, num_dropped_rounds, first_token_ms, decode_ms, "
                   "tokens_per_second, stop_reason, model_hash, min_p, presence_penalty, frequency_penalty) "
                   "SELECT ?, model_name, precision, device, temperature, top_p, top_k, repetition_penalty, "
                   "max_new_tokens, context_size, seed, num_prompt_tokens, num_reused_tokens, "
                   "num_new_tokens, num_dropped_rounds, first_token_ms, decode_ms, tokens_per_second, "
                   "'edited', model_hash, min_p, presence_penalty, frequency_penalty FROM answer "
                   "WHERE message_id = ?"),
               {m_result.newMessageId, command.messageId}) &&
           activate(conversationId, {m_result.newMessageId}) &&
           updateConversations(QStringLiteral("changed_ms = ?"), {command.nowMs}, {conversationId});
}

/// When nothing follows the message, a neighbour in its place is shown instead.
bool ConversationCommands::run(const DeleteMessage& command) {
    const QString conversationId = conversationOf(command.messageId);
    if (conversationId.isEmpty()) return true;
    touchPath(conversationId);
    if (!m_sql.done(QStringLiteral("UPDATE message SET deleted_ms = ? WHERE id = ? AND deleted_ms IS NULL"),
                    {command.nowMs, command.messageId})) {
        return false;
    }
    const MessageTree tree = readTree(m_sql, conversationId);
    if (!tree.following(command.messageId).isEmpty()) return true;
    const QStringList others = tree.choices(command.messageId);
    return others.isEmpty() || activate(conversationId, tree.lineage(others.last()));
}

bool ConversationCommands::run(const RestoreMessage& command) {
    touchPath(conversationOf(command.messageId));
    return m_sql.done(QStringLiteral("UPDATE message SET deleted_ms = NULL WHERE id = ?"),
                      {command.messageId}) &&
           run(ChooseMessage{command.messageId});
}

bool ConversationCommands::run(const ChooseMessage& command) {
    const QString conversationId = conversationOf(command.messageId);
    if (conversationId.isEmpty()) return true;
    touchPath(conversationId);
    return activate(conversationId, readTree(m_sql, conversationId).lineage(command.messageId));
}

bool ConversationCommands::run(const SetMessagePinned& command) {
    touchPath(conversationOf(command.messageId));
    return m_sql.done(QStringLiteral("UPDATE message SET pinned = ? WHERE id = ?"),
                      {command.pinned, command.messageId});
}

bool ConversationCommands::updateConversations(const QString& assignment, const QVariantList& values,
                                               const QStringList& ids, const QString& condition) {
    m_result.changedIds += ids;
    return std::all_of(ids.begin(), ids.end(), [&](const QString& id) {
        return m_sql.done(
            QStringLiteral("UPDATE conversation SET %1 WHERE id = ? AND %2").arg(assignment, condition),
            values + QVariantList{id});
    });
}

bool ConversationCommands::copyConversation(const QString& fromId, const QString& title, qint64 nowMs) {
    m_result.newConversationId = newId();
    m_result.changedIds.append(m_result.newConversationId);
    const QSqlQuery query = m_sql.run(
        QStringLiteral("INSERT INTO conversation (id, title, draft, created_ms, changed_ms, opened_ms, "
                       "title_source, folder, snippet, system_prompt) SELECT ?, ?, draft, ?, ?, ?, "
                       "title_source, folder, snippet, system_prompt FROM conversation WHERE id = ?"),
        {m_result.newConversationId, storedText(title), nowMs, nowMs, nowMs, fromId});
    return query.isActive() && query.numRowsAffected() == 1;
}

/// @param ids parents before children
bool ConversationCommands::copyMessages(const QString& fromConversationId, const QStringList& ids) {
    QHash<QString, QString> copyOf;
    for (const QString& id : ids) copyOf.insert(id, newId());
    return m_sql.done(QStringLiteral("CREATE TEMP TABLE IF NOT EXISTS message_copy(id TEXT PRIMARY KEY, copy "
                                     "TEXT, place INTEGER)")) &&
           m_sql.done(QStringLiteral("DELETE FROM message_copy")) &&
           std::all_of(ids.begin(), ids.end(),
                       [&](const QString& id) {
                           return m_sql.done(QStringLiteral("INSERT INTO message_copy VALUES (?, ?, ?)"),
                                             {id, copyOf[id], ids.indexOf(id)});
                       }) &&
           m_sql.done(
               QStringLiteral(
                   "INSERT INTO message (id, conversation_id, parent_id, sibling_order, is_active, author, "
                   "status, text, created_ms, changed_ms, pinned, deleted_ms) "
                   "SELECT c.copy, ?, p.copy, sibling_order, is_active, author, status, text, created_ms, "
                   "changed_ms, pinned, deleted_ms FROM message_copy AS c JOIN message AS m ON m.id = c.id "
                   "LEFT JOIN message_copy AS p ON p.id = m.parent_id WHERE m.conversation_id = ? "
                   "ORDER BY c.place"),
               {m_result.newConversationId, fromConversationId}) &&
           m_sql.done(QStringLiteral(
               "INSERT INTO answer (message_id, model_name, precision, device, temperature, top_p, top_k, "
               "repetition_penalty, max_new_tokens, context_size, seed, num_prompt_tokens, "
               "num_reused_tokens, num_new_tokens, num_dropped_rounds, first_token_ms, decode_ms, "
               "tokens_per_second, stop_reason, model_hash, min_p, presence_penalty, frequency_penalty) "
               "SELECT copy, model_name, precision, device, temperature, top_p, top_k, repetition_penalty, "
               "max_new_tokens, context_size, seed, num_prompt_tokens, num_reused_tokens, num_new_tokens, "
               "num_dropped_rounds, first_token_ms, decode_ms, tokens_per_second, stop_reason, model_hash, "
               "min_p, presence_penalty, frequency_penalty FROM message_copy JOIN answer ON message_id = "
               "id"));
}

/// Of each given message's siblings it alone becomes active.
bool ConversationCommands::activate(const QString& conversationId, const QStringList& messageIds) {
    return std::all_of(messageIds.begin(), messageIds.end(), [&](const QString& id) {
        return m_sql.done(
                   QStringLiteral("UPDATE message SET is_active = 0 WHERE conversation_id = ? AND is_active "
                                  "AND parent_id IS (SELECT parent_id FROM message WHERE id = ?)"),
                   {conversationId, id}) &&
               m_sql.done(QStringLiteral("UPDATE message SET is_active = 1 WHERE id = ?"), {id});
    });
}

/// @return "" for an unknown message
QString ConversationCommands::conversationOf(const QString& messageId) {
    QSqlQuery query =
        m_sql.run(QStringLiteral("SELECT conversation_id FROM message WHERE id = ?"), {messageId});
    return query.next() ? query.value(0).toString() : QString();
}

void ConversationCommands::touchPath(const QString& conversationId) {
    m_result.changedPathOf = conversationId;
    if (!conversationId.isEmpty()) m_result.changedIds.append(conversationId);
}

}  // namespace glmchat
