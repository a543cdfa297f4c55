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
    QString stopReason;      ///< finish_reason_name() of the engine, "failed", "interrupted", "edited", or ""
                             ///< while it runs
    QString modelHash = {};  ///< of the weights; "" = not known
    double minP = 0;
    double presencePenalty = 0;
    double frequencyPenalty = 0;
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
    bool pinned = false;
    int siblingIndex = 0;  ///< among the messages that can stand in this place; set by loading
    int siblingCount = 1;
};

/// Who named a conversation. A name is replaced only by one of the same or a later kind. The numbers are
/// stored.
enum class TitleSource { Automatic, Model, User };

struct ConversationRecord {
    QString id;  ///< UUID
    QString title;
    QString draft;
    qint64 createdMs = 0;
    qint64 changedMs = 0;
    TitleSource titleSource = TitleSource::Automatic;
    QString systemPrompt = {};
    bool pinned = false;
    QString folder = {};   ///< "" = none
    qint64 trashedMs = 0;  ///< 0 = not in the trash
    bool unread = false;
    QString scrollMessageId = {};  ///< the message at the top of the view; "" = the end of the conversation
    double scrollOffset = 0;       ///< of the view below that message's top, device-independent pixels
    QString selectedMessageId = {};
};

/// A row of the list of conversations.
struct ConversationSummary {
    QString id;
    QString title;
    TitleSource titleSource = TitleSource::Automatic;
    bool pinned = false;
    bool unread = false;
    bool hasDraft = false;
    QString folder;
    QString snippet;  ///< the beginning of the newest message, one line
    qint64 createdMs = 0;
    qint64 changedMs = 0;
    qint64 trashedMs = 0;
};

/// One conversation with its active path, first message first.
struct ConversationSnapshot {
    ConversationRecord conversation;  ///< id "" = there is none
    QList<MessageRecord> messages;
};

}  // namespace glmchat
