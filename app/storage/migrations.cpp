#include "app/storage/migrations.h"

#include <array>

namespace glmchat {
namespace {

/// Conversations are trees of messages. Of the siblings under one parent exactly one is active; the active
/// path is what the window shows. `author` and `status` hold the numbers of chat/message_enums.h, times are
/// milliseconds UTC.
QStringList initialSchema() {
    return {
        QStringLiteral(R"(CREATE TABLE conversation (
            id TEXT PRIMARY KEY,
            title TEXT NOT NULL DEFAULT '',
            has_own_title INTEGER NOT NULL DEFAULT 0,
            pinned INTEGER NOT NULL DEFAULT 0,
            draft TEXT NOT NULL DEFAULT '',
            created_ms INTEGER NOT NULL,
            changed_ms INTEGER NOT NULL,
            opened_ms INTEGER NOT NULL
        ) WITHOUT ROWID)"),
        QStringLiteral("CREATE INDEX conversation_by_change ON conversation(pinned, changed_ms)"),
        QStringLiteral("CREATE INDEX conversation_by_opening ON conversation(opened_ms)"),
        // An ordinary rowid table: a full-text index can refer to its rows.
        QStringLiteral(R"(CREATE TABLE message (
            number INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            conversation_id TEXT NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
            parent_id TEXT REFERENCES message(id) ON DELETE CASCADE,
            sibling_order INTEGER NOT NULL,
            is_active INTEGER NOT NULL,
            author INTEGER NOT NULL,
            status INTEGER NOT NULL,
            text TEXT NOT NULL,
            created_ms INTEGER NOT NULL,
            changed_ms INTEGER NOT NULL
        ))"),
        QStringLiteral("CREATE INDEX message_children ON message(conversation_id, parent_id, sibling_order)"),
        QStringLiteral("CREATE INDEX message_by_parent ON message(parent_id)"),
        QStringLiteral(
            "CREATE UNIQUE INDEX message_active_sibling ON message(conversation_id, ifnull(parent_id, '')) "
            "WHERE is_active"),
        QStringLiteral(R"(CREATE TABLE answer (
            message_id TEXT PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
            model_name TEXT NOT NULL,
            precision TEXT NOT NULL,
            device TEXT NOT NULL,
            temperature REAL NOT NULL,
            top_p REAL NOT NULL,
            top_k INTEGER NOT NULL,
            repetition_penalty REAL NOT NULL,
            max_new_tokens INTEGER NOT NULL,
            context_size INTEGER NOT NULL,
            seed INTEGER NOT NULL,
            num_prompt_tokens INTEGER NOT NULL,
            num_reused_tokens INTEGER NOT NULL,
            num_new_tokens INTEGER NOT NULL,
            num_dropped_rounds INTEGER NOT NULL,
            first_token_ms REAL NOT NULL,
            decode_ms REAL NOT NULL,
            tokens_per_second REAL NOT NULL,
            stop_reason TEXT NOT NULL
        ) WITHOUT ROWID)"),
    };
}

}  // namespace

std::span<const QStringList> migrations() {
    static const std::array<QStringList, 1> steps{initialSchema()};
    return steps;
}

}  // namespace glmchat
