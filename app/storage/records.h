#pragma once

#include <QList>
#include <QMetaType>
#include <QString>

#include "app/chat/message_enums.h"

namespace glmchat {

/// How an answer was made. Kept with it, so that it can be explained and made again.
struct AnswerRecord {
    QString modelName;
    QString precision;
    QString device;
    double temperature = 0;
    double topP = 0;
    int topK = 0;
    double repetitionPenalty = 1;
    int maxNewTokens = 0;
    int contextSize = 0;
    qint64 seed = -1;  ///< the one really used; -1 = never started
    int numPromptTokens = 0;
    int numReusedTokens = 0;  ///< of the prompt, taken from the KV cache
    int numNewTokens = 0;
    int numDroppedRounds = 0;
    double firstTokenMs = 0;  ///< from sending to the first token
    double decodeMs = 0;      ///< first token to last
    QString stopReason;  ///< finish_reason_name() of the engine, "failed", "interrupted", or "" while it runs
};

/// One message. A conversation is a tree: regenerating or editing adds a sibling, nothing is erased.
struct MessageRecord {
    QString id;        ///< UUID
    QString parentId;  ///< "" = first of the conversation
    Author::Value author = Author::User;
    MessageStatus::Value status = MessageStatus::Complete;
    QString text;
    qint64 createdMs = 0;  ///< UTC, since 1970
    qint64 changedMs = 0;
    AnswerRecord answer;  ///< of an Assistant message
};

struct ConversationRecord {
    QString id;  ///< UUID
    QString title;
    QString draft;
    qint64 createdMs = 0;
    qint64 changedMs = 0;
};

/// One conversation with its active path, first message first.
struct ConversationSnapshot {
    ConversationRecord conversation;  ///< id "" = there is none
    QList<MessageRecord> messages;
};

}  // namespace glmchat
