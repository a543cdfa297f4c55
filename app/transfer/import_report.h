#pragma once

#include <QList>
#include <QString>

namespace glmchat {

/// What an import could not take over as it was, and how often. Nothing is dropped without a line here.
struct ImportReport {
    enum class What {
        KeptField,          ///< not understood; comes back with the next JSON export
        DroppedField,       ///< of another program's file; has no place here
        DroppedPart,        ///< picture, sound, file: the kind of the part
        DroppedMessage,     ///< of a tool, a hidden instruction: its role or kind
        EmptyMessage,       ///< nothing to show in it
        LaterSystemPrompt,  ///< a conversation has one; this was a further one
        NotAConversation,   ///< an element of the file that is something else
        NewerVersion,       ///< the file's version
        InvalidBytes,       ///< not UTF-8; replaced by U+FFFD
        NewId,              ///< a message had none, or another's
        LostParent,         ///< a message's parent does not exist; it became a first message
        MovedMessage,       ///< stood before its parent
        ChangedActive,      ///< which sibling is shown was not clear
    };
    struct Entry {
        What what = What::DroppedField;
        QString name;  ///< of the field, part, role; "" where the kind says all
        qint64 count = 0;
    };
    QList<Entry> entries;  ///< in the order of their first appearance

    void add(What what, const QString& name = {}, qint64 count = 1);
};

/// One English line per entry, for the terminal.
QStringList describe(const ImportReport& report);

}  // namespace glmchat
