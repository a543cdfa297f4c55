#include "app/storage/conversation_store.h"

#include <QVariant>
#include <algorithm>

#include "app/chat/answer_text.h"

namespace glmchat {
namespace {

constexpr int kSqliteFull = 13;

QVariant idOrNull(const QString& id) {
    return id.isEmpty() ? QVariant(QMetaType::fromType<QString>()) : QVariant(id);
}

/// A null QString would be stored as NULL.
QString notNull(const QString& text) {
    return text.isNull() ? QStringLiteral("") : text;
}

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
    return message;
}

/// What a killed program left half done.
void markInterrupted(MessageRecord& message) {
    if (message.status != MessageStatus::Pending && message.status != MessageStatus::Streaming) return;
    message.status = MessageStatus::Stopped;
    message.answer.stopReason = QStringLiteral("interrupted");
}

}  // namespace

ConversationStore::ConversationStore(std::unique_ptr<Database> database) : m_database(std::move(database)) {}

tl::expected<void, StorageProblem> ConversationStore::save(const ConversationRecord& conversation,
                                                           const QList<MessageRecord>& messages) {
    QSqlDatabase connection = m_database->sql();
    if (!connection.transaction()) return tl::unexpected(writeProblem(connection.lastError()));
    const bool written = saveConversation(conversation) &&
                         std::all_of(messages.begin(), messages.end(), [&](const MessageRecord& message) {
                             return saveMessage(conversation.id, message);
                         });
    if (written && connection.commit()) return {};
    const StorageProblem problem = writeProblem(written ? connection.lastError() : m_error);
    connection.rollback();
    return tl::unexpected(problem);
}

bool ConversationStore::saveConversation(const ConversationRecord& conversation) {
    QSqlQuery query(m_database->sql());
    query.prepare(
        QStringLiteral("INSERT INTO conversation (id, title, draft, created_ms, changed_ms, opened_ms) "
                       "VALUES (:id, :title, :draft, :created, :changed, :changed) "
                       "ON CONFLICT(id) DO UPDATE SET title = CASE has_own_title WHEN 0 THEN :title ELSE "
                       "title END, draft = :draft, "
                       "changed_ms = :changed, opened_ms = :changed"));
    query.bindValue(QStringLiteral(":id"), conversation.id);
    query.bindValue(QStringLiteral(":title"), notNull(conversation.title));
    query.bindValue(QStringLiteral(":draft"), notNull(conversation.draft));
    query.bindValue(QStringLiteral(":created"), conversation.createdMs);
    query.bindValue(QStringLiteral(":changed"), conversation.changedMs);
    return run(query);
}

bool ConversationStore::saveMessage(const QString& conversationId, const MessageRecord& message) {
    QSqlQuery others(m_database->sql());
    others.prepare(
        QStringLiteral("UPDATE message SET is_active = 0 WHERE conversation_id = ? AND parent_id IS ? AND id "
                       "<> ? AND is_active"));
    others.addBindValue(conversationId);
    others.addBindValue(idOrNull(message.parentId));
    others.addBindValue(message.id);

    QSqlQuery query(m_database->sql());
    query.prepare(QStringLiteral(
        "INSERT INTO message (id, conversation_id, parent_id, author, status, text, created_ms, changed_ms, "
        "is_active, "
        "sibling_order) VALUES (:id, :conversation, :parent, :author, :status, :text, :created, :changed, 1, "
        "(SELECT ifnull(max(sibling_order) + 1, 0) FROM message "
        "WHERE conversation_id = :conversation AND parent_id IS :parent)) "
        "ON CONFLICT(id) DO UPDATE SET status = :status, text = :text, changed_ms = :changed, is_active = "
        "1"));
    query.bindValue(QStringLiteral(":id"), message.id);
    query.bindValue(QStringLiteral(":conversation"), conversationId);
    query.bindValue(QStringLiteral(":parent"), idOrNull(message.parentId));
    query.bindValue(QStringLiteral(":author"), static_cast<int>(message.author));
    query.bindValue(QStringLiteral(":status"), static_cast<int>(message.status));
    query.bindValue(QStringLiteral(":text"), notNull(message.text));
    query.bindValue(QStringLiteral(":created"), message.createdMs);
    query.bindValue(QStringLiteral(":changed"), message.changedMs);
    if (!run(others) || !run(query)) return false;
    return message.author != Author::Assistant || saveAnswer(message.id, message.answer);
}

bool ConversationStore::saveAnswer(const QString& messageId, const AnswerRecord& answer) {
    const QList<QVariant> values{messageId,
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
                                 notNull(answer.stopReason)};
    QSqlQuery query(m_database->sql());
    query.prepare(
        QStringLiteral("INSERT OR REPLACE INTO answer (message_id, model_name, precision, device, "
                       "temperature, top_p, top_k, "
                       "repetition_penalty, max_new_tokens, context_size, seed, num_prompt_tokens, "
                       "num_reused_tokens, num_new_tokens, "
                       "num_dropped_rounds, first_token_ms, decode_ms, tokens_per_second, stop_reason) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
    for (const QVariant& value : values) query.addBindValue(value);
    return run(query);
}

tl::expected<ConversationSnapshot, StorageProblem> ConversationStore::loadLast() {
    ConversationSnapshot snapshot;
    QSqlQuery query(m_database->sql());
    query.prepare(QStringLiteral(
        "SELECT id, title, draft, created_ms, changed_ms FROM conversation WHERE draft <> '' OR EXISTS "
        "(SELECT 1 FROM message WHERE conversation_id = conversation.id) ORDER BY opened_ms DESC LIMIT 1"));
    bool done = run(query);
    if (done && query.next()) {
        ConversationRecord& conversation = snapshot.conversation;
        conversation.id = query.value(0).toString();
        conversation.title = query.value(1).toString();
        conversation.draft = query.value(2).toString();
        conversation.createdMs = query.value(3).toLongLong();
        conversation.changedMs = query.value(4).toLongLong();
        done = loadMessages(snapshot);
    }
    if (!done)
        return tl::unexpected(
            StorageProblem{StorageProblem::Kind::CannotOpen, m_database->path(), m_error.text()});
    return snapshot;
}

/// From the first message down the active children.
bool ConversationStore::loadMessages(ConversationSnapshot& snapshot) {
    QSqlQuery query(m_database->sql());
    query.setForwardOnly(true);
    query.prepare(QStringLiteral(
        "WITH RECURSIVE path(message_id, depth) AS ("
        "  SELECT id, 0 FROM message WHERE conversation_id = ? AND parent_id IS NULL AND is_active"
        "  UNION ALL"
        "  SELECT message.id, depth + 1 FROM path JOIN message ON message.parent_id = path.message_id AND "
        "is_active"
        ") "
        "SELECT message.*, answer.* FROM path JOIN message ON message.id = path.message_id "
        "LEFT JOIN answer ON answer.message_id = message.id ORDER BY depth"));
    query.addBindValue(snapshot.conversation.id);
    if (!run(query)) return false;
    while (query.next()) {
        MessageRecord message = messageFrom(query);
        markInterrupted(message);
        snapshot.messages.append(message);
    }
    return true;
}

bool ConversationStore::run(QSqlQuery& query) {
    if (query.exec()) return true;
    m_error = query.lastError();
    return false;
}

StorageProblem ConversationStore::writeProblem(const QSqlError& error) const {
    const bool full = (error.nativeErrorCode().toInt() & 0xFF) == kSqliteFull;
    return {full ? StorageProblem::Kind::DiskFull : StorageProblem::Kind::CannotWrite, m_database->path(),
            error.text()};
}

}  // namespace glmchat
