#pragma once

#include <QList>
#include <QString>

#include "app/transfer/conversation_document.h"
#include "app/transfer/export_options.h"

namespace glmchat {

/// A conversation as all readable formats show it, with every number already in words.
struct Outline {
    struct Fact {
        QString label;
        QString value;
    };
    struct Message {
        DocumentRole role = DocumentRole::User;
        QString
            heading;    ///< "You", "Assistant"; with all branches "#3 Assistant (version 2 of 2, follows #1)"
        QString facts;  ///< one line: time, model, values, counts; "" without metadata
        QString text;   ///< of the message, as it is
    };
    QString title;  ///< one line, never empty
    QList<Fact> facts;
    QString systemPrompt;
    QList<Message> messages;  ///< deleted ones are not here
};

Outline outlineOf(const ConversationDocument& conversation, const ExportOptions& options);

/// Text that can stand in a file people read: line ends are \n, other controls are shown as their pictures
/// (␛), lone surrogates and NUL as U+FFFD or ␀.
QString cleanText(QStringView text);

/// "1 234,5" would not be read back: digits with a point, no groups, as short as the number allows.
QString numberText(double value);

}  // namespace glmchat
