#pragma once

#include <QList>
#include <QString>
#include <optional>

#include "app/transfer/json_node.h"

namespace glmchat {

/// Values an answer was sampled with. Empty = not known.
struct SamplingValues {
    std::optional<double> temperature;
    std::optional<double> topP;
    std::optional<qint64> topK;
    std::optional<double> minP;
    std::optional<double> repetitionPenalty;
    std::optional<double> presencePenalty;
    std::optional<double> frequencyPenalty;
    std::optional<qint64> maxNewTokens;
    std::optional<qint64> contextSize;
    std::optional<qint64> seed;
    bool operator==(const SamplingValues&) const = default;
};

/// How an answer was made. Empty = not known.
struct AnswerFacts {
    QString modelName;
    QString modelHash;
    QString precision;
    QString device;
    SamplingValues sampling;
    std::optional<qint64> numPromptTokens;
    std::optional<qint64> numReusedTokens;
    std::optional<qint64> numNewTokens;
    std::optional<qint64> numDroppedRounds;
    std::optional<double> firstTokenMs;
    std::optional<double> decodeMs;
    std::optional<double> tokensPerSecond;
    QString stopReason;
    JsonObject unknown;  ///< members of a newer version's file; written back as they are
    bool operator==(const AnswerFacts&) const = default;
};

enum class DocumentRole { User, Assistant };
enum class DocumentStatus { Complete, Stopped, Failed, Cut };
enum class DocumentTitleSource { FirstWords, Model, User };

/// One message of the tree.
struct MessageDocument {
    QString id;          ///< unique in its conversation
    QString parentId;    ///< "" = first of the conversation
    bool active = true;  ///< of the siblings under one parent exactly one is
    DocumentRole role = DocumentRole::User;
    DocumentStatus status = DocumentStatus::Complete;
    QString text;
    qint64 createdMs = 0;  ///< UTC, since 1970; 0 = not known
    qint64 changedMs = 0;
    bool pinned = false;
    qint64 deletedMs = 0;  ///< 0 = not deleted
    std::optional<AnswerFacts> answer;
    JsonObject unknown;
    bool operator==(const MessageDocument&) const = default;
};

/// A whole conversation, free of how it is stored or shown. Parents stand before their children, siblings in
/// their order.
struct ConversationDocument {
    QString id;
    QString title;
    DocumentTitleSource titleSource = DocumentTitleSource::FirstWords;
    QString folder;
    QString systemPrompt;
    QString draft;
    bool pinned = false;
    qint64 createdMs = 0;
    qint64 changedMs = 0;
    qint64 deletedMs = 0;
    QList<MessageDocument> messages;
    JsonObject unknown;
    bool operator==(const ConversationDocument&) const = default;
};

/// Rows of `messages` that the window shows, first message first.
QList<qsizetype> activePath(const ConversationDocument& conversation);

/// Place of each message among its siblings.
struct SiblingPlace {
    qsizetype index = 0;  ///< from 0
    qsizetype count = 1;
    qsizetype parent = -1;  ///< row; -1 = none
};
QList<SiblingPlace> siblingPlaces(const ConversationDocument& conversation);

/// What repairTree() had to change.
struct TreeRepairs {
    int newIds = 0;         ///< a missing id, or one that was there already
    int lostParents = 0;    ///< the parent does not exist, or is a descendant: the message became a first one
    int movedMessages = 0;  ///< stood before its parent
    int changedActives = 0;  ///< several siblings were active, or none
};

/// Makes a tree of whatever an imported file says. A conversation that is one already stays as it is.
TreeRepairs repairTree(ConversationDocument& conversation);

}  // namespace glmchat
