#pragma once

#include <QMetaType>
#include <QString>
#include <QStringList>
#include <variant>

#include "app/storage/records.h"

namespace glmchat {

// What can be done to kept conversations, as values. `nowMs` is the time that is written, UTC since 1970.

struct SetTitle {
    QString conversationId;
    QString title;
    TitleSource source = TitleSource::User;  ///< a weaker source never replaces a stronger one's title
};
struct SetPinned {
    QStringList conversationIds;
    bool pinned = true;
};
struct SetFolder {
    QStringList conversationIds;
    QString folder;  ///< "" = none; a folder exists while a conversation is in it
};
struct RenameFolder {
    QString from;
    QString to;  ///< "" dissolves the folder
};
struct SetUnread {
    QStringList conversationIds;
    bool unread = true;
};
struct SetSystemPrompt {
    QString conversationId;
    QString text;
};
/// Where the user was, so that the conversation opens there again.
struct SetView {
    QString conversationId;
    QString scrollMessageId;
    double scrollOffset = 0;
    QString selectedMessageId;
};
struct MoveToTrash {
    QStringList conversationIds;
    qint64 nowMs = 0;
};
struct RestoreFromTrash {
    QStringList conversationIds;
};
/// Deletes for good, in the trash or not.
struct Purge {
    QStringList conversationIds;
};
/// A copy with all branches.
struct Duplicate {
    QString conversationId;
    QString title;
    qint64 nowMs = 0;
};
/// A new conversation with the messages from the first to this one; the old one stays.
struct Branch {
    QString messageId;
    QString title;
    qint64 nowMs = 0;
};
/// Another text in the place of a message, which stays as a sibling. For an answer its numbers are kept and
/// the stop reason says "edited".
struct EditMessage {
    QString messageId;
    QString text;
    qint64 nowMs = 0;
};
/// Hides one message; what follows it stays (see MessageTree). Its text is kept as long as the trash.
struct DeleteMessage {
    QString messageId;
    qint64 nowMs = 0;
};
struct RestoreMessage {
    QString messageId;
};
/// Makes a message part of the active path: a sibling, or what a search found.
struct ChooseMessage {
    QString messageId;
};
struct SetMessagePinned {
    QString messageId;
    bool pinned = true;
};

using StorageCommand =
    std::variant<SetTitle, SetPinned, SetFolder, RenameFolder, SetUnread, SetSystemPrompt, SetView,
                 MoveToTrash, RestoreFromTrash, Purge, Duplicate, Branch, EditMessage, DeleteMessage,
                 RestoreMessage, ChooseMessage, SetMessagePinned>;

struct CommandResult {
    QStringList changedIds;     ///< conversations whose row in a list may look different now
    QStringList removedIds;     ///< conversations that are gone for good
    QString newConversationId;  ///< of Duplicate and Branch
    QString newMessageId;       ///< of EditMessage
    QString changedPathOf;      ///< the conversation whose messages must be loaded again; "" = none
};

/// How long deleted things can be brought back.
inline constexpr int kTrashDays = 30;

}  // namespace glmchat
