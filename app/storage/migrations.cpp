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

/// The list (titles by their source, folders, trash, unread), the view's place, more about answers, deleted
/// messages, and the search.
///
/// `message_search` is an index of trigrams over the text of every message that is not being written
/// (`status` 1 and 2 are Pending and Streaming): a growing answer is indexed when it ends. Two marks after
/// each text make every character begin a trigram, so that a range of terms finds one and two characters too.
QStringList listAndSearch() {
    return {
        QStringLiteral("ALTER TABLE conversation ADD COLUMN title_source INTEGER NOT NULL DEFAULT 0"),
        QStringLiteral("ALTER TABLE conversation ADD COLUMN folder TEXT NOT NULL DEFAULT ''"),
        QStringLiteral("ALTER TABLE conversation ADD COLUMN trashed_ms INTEGER"),
        QStringLiteral("ALTER TABLE conversation ADD COLUMN unread INTEGER NOT NULL DEFAULT 0"),
        QStringLiteral("ALTER TABLE conversation ADD COLUMN snippet TEXT NOT NULL DEFAULT ''"),
        QStringLiteral("ALTER TABLE conversation ADD COLUMN system_prompt TEXT NOT NULL DEFAULT ''"),
        QStringLiteral("ALTER TABLE conversation ADD COLUMN scroll_message_id TEXT NOT NULL DEFAULT ''"),
        QStringLiteral("ALTER TABLE conversation ADD COLUMN scroll_offset REAL NOT NULL DEFAULT 0"),
        QStringLiteral("ALTER TABLE conversation ADD COLUMN selected_message_id TEXT NOT NULL DEFAULT ''"),
        QStringLiteral("UPDATE conversation SET title_source = 2 WHERE has_own_title"),
        QStringLiteral("ALTER TABLE conversation DROP COLUMN has_own_title"),
        QStringLiteral(R"(UPDATE conversation SET snippet = ifnull((
            SELECT trim(replace(substr(text, 1, 120), char(10), ' ')) FROM message
            WHERE conversation_id = conversation.id AND is_active AND text <> ''
            ORDER BY number DESC LIMIT 1), ''))"),
        QStringLiteral("DROP INDEX conversation_by_change"),
        QStringLiteral("CREATE INDEX conversation_list ON conversation(pinned, changed_ms, id) "
                       "WHERE trashed_ms IS NULL"),
        QStringLiteral("CREATE INDEX conversation_trash ON conversation(trashed_ms) "
                       "WHERE trashed_ms IS NOT NULL"),
        QStringLiteral("CREATE INDEX conversation_folder ON conversation(folder) WHERE folder <> ''"),

        QStringLiteral("ALTER TABLE message ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0"),
        QStringLiteral("ALTER TABLE message ADD COLUMN deleted_ms INTEGER"),
        QStringLiteral("CREATE INDEX message_running ON message(status) WHERE status IN (1, 2)"),
        QStringLiteral("CREATE INDEX message_deleted ON message(deleted_ms) WHERE deleted_ms IS NOT NULL"),

        QStringLiteral("ALTER TABLE answer ADD COLUMN model_hash TEXT NOT NULL DEFAULT ''"),
        QStringLiteral("ALTER TABLE answer ADD COLUMN min_p REAL NOT NULL DEFAULT 0"),
        QStringLiteral("ALTER TABLE answer ADD COLUMN presence_penalty REAL NOT NULL DEFAULT 0"),
        QStringLiteral("ALTER TABLE answer ADD COLUMN frequency_penalty REAL NOT NULL DEFAULT 0"),

        QStringLiteral("CREATE VIEW searchable_message AS SELECT number, text || char(1, 1) AS text "
                       "FROM message WHERE status NOT IN (1, 2)"),
        QStringLiteral("CREATE VIRTUAL TABLE message_search USING fts5(text, content = 'searchable_message', "
                       "content_rowid = 'number', tokenize = 'trigram', detail = 'none')"),
        QStringLiteral("CREATE VIRTUAL TABLE message_search_terms USING fts5vocab('message_search', "
                       "'instance')"),
        QStringLiteral(R"(CREATE TRIGGER message_inserted AFTER INSERT ON message
            WHEN new.status NOT IN (1, 2) BEGIN
            INSERT INTO message_search(rowid, text) VALUES (new.number, new.text || char(1, 1));
            END)"),
        QStringLiteral(R"(CREATE TRIGGER message_deleted AFTER DELETE ON message
            WHEN old.status NOT IN (1, 2) BEGIN
            INSERT INTO message_search(message_search, rowid, text)
                VALUES ('delete', old.number, old.text || char(1, 1));
            END)"),
        QStringLiteral(R"(CREATE TRIGGER message_before_update BEFORE UPDATE OF text, status ON message
            WHEN old.status NOT IN (1, 2) AND (old.text IS NOT new.text OR new.status IN (1, 2)) BEGIN
            INSERT INTO message_search(message_search, rowid, text)
                VALUES ('delete', old.number, old.text || char(1, 1));
            END)"),
        QStringLiteral(R"(CREATE TRIGGER message_after_update AFTER UPDATE OF text, status ON message
            WHEN new.status NOT IN (1, 2) AND (old.text IS NOT new.text OR old.status IN (1, 2)) BEGIN
            INSERT INTO message_search(rowid, text) VALUES (new.number, new.text || char(1, 1));
            END)"),
        QStringLiteral("INSERT INTO message_search(message_search) VALUES ('rebuild')"),
    };
}

}  // namespace

std::span<const QStringList> migrations() {
    static const std::array<QStringList, 2> steps{initialSchema(), listAndSearch()};
    return steps;
}

}  // namespace glmchat
