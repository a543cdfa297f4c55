#include "app/storage/conversation_store.h"

#include <QVariant>
#include <algorithm>

#include "app/chat/answer_text.h"
#include "app/storage/conversation_commands.h"

namespace glmchat {
namespace {

constexpr qsizetype kSnippetLength = 120;
constexpr qint64 kMsPerDay = 24LL * 60 * 60 * 1000;

template <typename Enum>
Enum enumFrom(const QVariant& stored, Enum last, Enum fallback) {
    const int number = stored.toInt();
    return number >= 0 && number <= static_cast<int>(last) ? static_cast<Enum>(number) : fallback;
}

MessageRecord messageFrom(const QSqlQuery& query) {
    MessageRecord message;
    message.id = query.value(QStringLiteral("id")).toString();
    message.parentId = query.value(QStringLiteral("parent_id")).toString();
    message.author = enumFrom(query.value(QStringLiteral("author")), Author::Assistant, Author::User);
    message.status =
        enumFrom(query.value(QStringLiteral("status")), MessageStatus::Cut, MessageStatus::Complete);
    message.text = query.value(QStringLiteral("text")).toString();
    message.createdMs = query.value(QStringLiteral("created_ms")).toLongLong();
    message.changedMs = query.value(QStringLiteral("changed_ms")).toLongLong();
    AnswerRecord& answer = message.answer;
    answer.modelName = query.value(QStringLiteral("model_name")).toString();
    answer.precision = query.value(QStringLiteral("precision")).toString();
    answer.device = query.value(QStringLiteral("device")).toString();
    answer.temperature = query.value(QStringLiteral("temperature")).toDouble();
    answer.topP = query.value(QStringLiteral("top_p")).toDouble();
    answer.topK = query.value(QStringLiteral("top_k")).toInt();
    answer.repetitionPenalty = query.value(QStringLiteral("repetition_penalty")).toDouble();
    answer.maxNewTokens = query.value(QStringLiteral("max_new_tokens")).toInt();
    answer.contextSize = query.value(QStringLiteral("context_size")).toInt();
    answer.seed = query.value(QStringLiteral("seed")).toLongLong();
    answer.numPromptTokens = query.value(QStringLiteral("num_prompt_tokens")).toInt();
    answer.numReusedTokens = query.value(QStringLiteral("num_reused_tokens")).toInt();
    answer.numNewTokens = query.value(QStringLiteral("num_new_tokens")).toInt();
    answer.numDroppedRounds = query.value(QStringLiteral("num_dropped_rounds")).toInt();
    answer.firstTokenMs = query.value(QStringLiteral("first_token_ms")).toDouble();
    answer.decodeMs = query.value(QStringLiteral("decode_ms")).toDouble();
    answer.stopReason = query.value(QStringLiteral("stop_reason")).toString();
    answer.modelHash = query.value(QStringLiteral("model_hash")).toString();
    answer.minP = query.value(QStringLiteral("min_p")).toDouble();
    answer.presencePenalty = query.value(QStringLiteral("presence_penalty")).toDouble();
    answer.frequencyPenalty = query.value(QStringLiteral("frequency_penalty")).toDouble();
    message.pinned = query.value(QStringLiteral("pinned")).toBool();
    return message;
}

ConversationRecord conversationFrom(const QSqlQuery& query) {
    ConversationRecord conversation;
    conversation.id = query.value(QStringLiteral("id")).toString();
    conversation.title = query.value(QStringLiteral("title")).toString();
    conversation.titleSource =
        enumFrom(query.value(QStringLiteral("title_source")), TitleSource::User, TitleSource::Automatic);
    conversation.draft = query.value(QStringLiteral("draft")).toString();
    conversation.createdMs = query.value(QStringLiteral("created_ms")).toLongLong();
    conversation.changedMs = query.value(QStringLiteral("changed_ms")).toLongLong();
    conversation.systemPrompt = query.value(QStringLiteral("system_prompt")).toString();
    conversation.pinned = query.value(QStringLiteral("pinned")).toBool();
    conversation.folder = query.value(QStringLiteral("folder")).toString();
    conversation.trashedMs = query.value(QStringLiteral("trashed_ms")).toLongLong();
    conversation.unread = query.value(QStringLiteral("unread")).toBool();
    conversation.scrollMessageId = query.value(QStringLiteral("scroll_message_id")).toString();
    conversation.scrollOffset = query.value(QStringLiteral("scroll_offset")).toDouble();
    conversation.selectedMessageId = query.value(QStringLiteral("selected_message_id")).toString();
    return conversation;
}

/// What a killed program left half done.
void markInterrupted(MessageRecord& message) {
    if (message.status != MessageStatus::Pending && message.status != MessageStatus::Streaming) return;
    message.status = MessageStatus::Stopped;
    message.answer.stopReason = QStringLiteral("interrupted");
}

/// "" when there is nothing to quote.
QString snippetOf(const QList<MessageRecord>& messages) {
    const auto last = std::find_if(messages.rbegin(), messages.rend(),
                                   [](const MessageRecord& message) { return !message.text.isEmpty(); });
    if (last == messages.rend()) return {};
    QString snippet = last->text.left(3 * kSnippetLength).simplified().left(kSnippetLength);
    if (snippet.endsWith(QChar::ReplacementCharacter)) snippet.chop(1);
    return storedText(snippet);
}

}  // namespace

ConversationStore::ConversationStore(std::unique_ptr<Database> database)
    : m_database(std::move(database)), m_sql(m_database->sql()) {}

tl::expected<void, StorageProblem> ConversationStore::save(const ConversationRecord& conversation,
                                                           const QList<MessageRecord>& messages) {
    const bool saved = m_sql.inTransaction([&] {
        return saveConversation(conversation, messages) &&
               std::all_of(messages.begin(), messages.end(), [&](const MessageRecord& message) {
                   return saveMessage(conversation.id, message);
               });
    });
    if (saved) return {};
    return tl::unexpected(writeProblem(m_sql.error(), m_database->path()));
}

tl::expected<CommandResult, StorageProblem> ConversationStore::apply(const StorageCommand& command) {
    ConversationCommands commands(m_sql);
    if (m_sql.inTransaction([&] { return commands.perform(command); })) return commands.result();
    return tl::unexpected(writeProblem(m_sql.error(), m_database->path()));
}

/// A draft alone is no change of the conversation: its place in the list stays.
bool ConversationStore::saveConversation(const ConversationRecord& conversation,
                                         const QList<MessageRecord>& messages) {
    const QString snippet = snippetOf(messages);
    return m_sql.done(QStringLiteral(
                          "INSERT INTO conversation (id, title, draft, created_ms, changed_ms, opened_ms, "
                          "title_source, system_prompt, pinned, folder, trashed_ms, unread) "
                          "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO UPDATE SET "
                          "title = CASE WHEN title_source <= excluded.title_source THEN excluded.title "
                          "ELSE title END, draft = excluded.draft, opened_ms = excluded.opened_ms, "
                          "changed_ms = CASE WHEN ? THEN excluded.changed_ms ELSE changed_ms END"),
                      {conversation.id, storedText(conversation.title), storedText(conversation.draft),
                       conversation.createdMs, conversation.changedMs, conversation.changedMs,
                       static_cast<int>(conversation.titleSource), storedText(conversation.systemPrompt),
                       conversation.pinned, storedText(conversation.folder),
                       conversation.trashedMs > 0 ? QVariant(conversation.trashedMs)
                                                  : QVariant(QMetaType::fromType<qint64>()),
                       conversation.unread, !messages.isEmpty()}) &&
           (snippet.isEmpty() ||
            m_sql.done(QStringLiteral("UPDATE conversation SET snippet = ? WHERE id = ?"),
                       {snippet, conversation.id}));
}

bool ConversationStore::saveMessage(const QString& conversationId, const MessageRecord& message) {
    const QSqlQuery update = m_sql.run(
        QStringLiteral("UPDATE message SET status = ?, text = ?, changed_ms = ? WHERE id = ?"),
        {static_cast<int>(message.status), storedText(message.text), message.changedMs, message.id});
    if (!update.isActive()) return false;
    if (update.numRowsAffected() == 0 && !insertMessage(conversationId, message)) return false;
    return message.author != Author::Assistant || saveAnswer(message.id, message.answer);
}

bool ConversationStore::insertMessage(const QString& conversationId, const MessageRecord& message) {
    const QVariant parent = idOrNull(message.parentId);
    return m_sql.done(
               QStringLiteral("UPDATE message SET is_active = 0 WHERE conversation_id = ? AND parent_id "
                              "IS ? AND is_active"),
               {conversationId, parent}) &&
           m_sql.done(
               QStringLiteral("INSERT INTO message (id, conversation_id, parent_id, author, status, text, "
                              "created_ms, changed_ms, pinned, is_active, sibling_order) VALUES (?, ?, ?, ?, "
                              "?, ?, ?, ?, ?, 1, (SELECT ifnull(max(sibling_order) + 1, 0) FROM message "
                              "WHERE conversation_id = ? AND parent_id IS ?))"),
               {message.id, conversationId, parent, static_cast<int>(message.author),
                static_cast<int>(message.status), storedText(message.text), message.createdMs,
                message.changedMs, message.pinned, conversationId, parent});
}

bool ConversationStore::saveAnswer(const QString& messageId, const AnswerRecord& answer) {
    return m_sql.done(
        QStringLiteral("INSERT OR REPLACE INTO answer (message_id, model_name, precision, device, "
                       "temperature, top_p, top_k, repetition_penalty, max_new_tokens, context_size, seed, "
                       "num_prompt_tokens, num_reused_tokens, num_new_tokens, num_dropped_rounds, "
                       "first_token_ms, decode_ms, tokens_per_second, stop_reason, model_hash, min_p, "
                       "presence_penalty, frequency_penalty) VALUES (%1)")
            .arg(placeholders(23)),
        {messageId,
         notNull(answer.modelName),
         notNull(answer.precision),
         notNull(answer.device),
         answer.temperature,
         answer.topP,
         answer.topK,
         answer.repetitionPenalty,
         answer.maxNewTokens,
         answer.contextSize,
         answer.seed,
         answer.numPromptTokens,
         answer.numReusedTokens,
         answer.numNewTokens,
         answer.numDroppedRounds,
         answer.firstTokenMs,
         answer.decodeMs,
         decodeRate(answer.numNewTokens, answer.decodeMs),
         notNull(answer.stopReason),
         notNull(answer.modelHash),
         answer.minP,
         answer.presencePenalty,
         answer.frequencyPenalty});
}

tl::expected<ConversationSnapshot, StorageProblem> ConversationStore::loadLast() {
    return loadWhere(
        QStringLiteral("trashed_ms IS NULL AND (draft <> '' OR EXISTS (SELECT 1 FROM message WHERE "
                       "conversation_id = conversation.id)) ORDER BY opened_ms DESC LIMIT 1"),
        {});
}

tl::expected<ConversationSnapshot, StorageProblem> ConversationStore::load(const QString& conversationId) {
    return loadWhere(QStringLiteral("id = ?"), {conversationId});
}

tl::expected<ConversationSnapshot, StorageProblem> ConversationStore::loadWhere(const QString& condition,
                                                                                const QVariantList& values) {
    ConversationSnapshot snapshot;
    QSqlQuery query = m_sql.run(QStringLiteral("SELECT * FROM conversation WHERE ") + condition, values);
    bool done = query.isActive();
    if (done && query.next()) {
        snapshot.conversation = conversationFrom(query);
        done = loadMessages(snapshot);
    }
    if (done) return snapshot;
    return tl::unexpected(
        StorageProblem{StorageProblem::Kind::CannotOpen, m_database->path(), m_sql.error().text()});
}

bool ConversationStore::loadMessages(ConversationSnapshot& snapshot) {
    const QString& conversationId = snapshot.conversation.id;
    QHash<QString, MessageTree::PathStep> steps;
    QHash<QString, qsizetype> rowOf;
    for (const auto& step : ConversationCommands::readTree(m_sql, conversationId).activePath()) {
        rowOf.insert(step.id, steps.size());
        steps.insert(step.id, step);
    }
    snapshot.messages.resize(steps.size());
    QSqlQuery query = m_sql.run(
        QStringLiteral("SELECT message.*, answer.* FROM message LEFT JOIN answer ON answer.message_id = "
                       "message.id WHERE conversation_id = ?"),
        {conversationId});
    while (query.next()) {
        const auto row = rowOf.constFind(query.value(QStringLiteral("id")).toString());
        if (row == rowOf.cend()) continue;
        MessageRecord& message = snapshot.messages[*row];
        message = messageFrom(query);
        markInterrupted(message);
        message.siblingIndex = steps[message.id].siblingIndex;
        message.siblingCount = steps[message.id].siblingCount;
    }
    return query.isActive();
}

tl::expected<void, StorageProblem> ConversationStore::tidy(qint64 nowMs) {
    const qint64 tooOldMs = nowMs - kTrashDays * kMsPerDay;
    const bool done = m_sql.inTransaction([&] {
        QSqlQuery expired =
            m_sql.run(QStringLiteral("SELECT id FROM conversation WHERE trashed_ms < ?"), {tooOldMs});
        QStringList ids;
        while (expired.next()) ids.append(expired.value(0).toString());
        return m_sql.done(QStringLiteral("UPDATE answer SET stop_reason = 'interrupted' WHERE message_id IN "
                                         "(SELECT id FROM message WHERE status IN (1, 2))")) &&
               m_sql.done(QStringLiteral("UPDATE message SET status = ? WHERE status IN (1, 2)"),
                          {static_cast<int>(MessageStatus::Stopped)}) &&
               // The emptied message stays: it holds the tree together.
               m_sql.done(QStringLiteral("UPDATE message SET text = '' WHERE deleted_ms < ?"), {tooOldMs}) &&
               ConversationCommands::purge(m_sql, ids);
    });
    if (done) return {};
    return tl::unexpected(writeProblem(m_sql.error(), m_database->path()));
}

}  // namespace glmchat
