-- A conversation file of version 1, as the first release wrote it.
PRAGMA application_id = 1196182851;
PRAGMA user_version = 1;
CREATE TABLE conversation (
    id TEXT PRIMARY KEY,
    title TEXT NOT NULL DEFAULT '',
    has_own_title INTEGER NOT NULL DEFAULT 0,
    pinned INTEGER NOT NULL DEFAULT 0,
    draft TEXT NOT NULL DEFAULT '',
    created_ms INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    opened_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX conversation_by_change ON conversation(pinned, changed_ms);
CREATE INDEX conversation_by_opening ON conversation(opened_ms);
CREATE TABLE message (
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
);
CREATE INDEX message_children ON message(conversation_id, parent_id, sibling_order);
CREATE INDEX message_by_parent ON message(parent_id);
CREATE UNIQUE INDEX message_active_sibling ON message(conversation_id, ifnull(parent_id, '')) WHERE is_active;
CREATE TABLE answer (
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
) WITHOUT ROWID;
INSERT INTO conversation VALUES ('c1', 'Named by hand', 1, 1, 'a draft', 1000, 5000, 6000);
INSERT INTO conversation VALUES ('c2', '今天天气', 0, 0, '', 2000, 3000, 3000);
INSERT INTO message VALUES (1, 'q1', 'c1', NULL, 0, 1, 0, 0, '今天天气如何？', 1000, 1000);
INSERT INTO message VALUES (2, 'a1', 'c1', 'q1', 0, 0, 1, 0, 'first answer', 1100, 1200);
INSERT INTO message VALUES (3, 'a2', 'c1', 'q1', 1, 1, 1, 2, 'half an ans', 1300, 1400);
INSERT INTO message VALUES (4, 'q2', 'c2', NULL, 0, 1, 0, 0, 'question two', 2000, 2000);
INSERT INTO answer VALUES ('a1', 'chatglm2-6b', 'int4', 'CPU', 0.8, 0.7, 50, 1.1, 2048, 8192, 4711, 20, 5, 128, 1, 210.5, 3000, 42.3, 'stop_token');
INSERT INTO answer VALUES ('a2', 'chatglm2-6b', 'int4', 'CPU', 0.8, 0.7, 50, 1.1, 2048, 8192, 4712, 20, 5, 12, 0, 210.5, 300, 36.6, '');
