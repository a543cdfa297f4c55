#pragma once

#include <QByteArray>
#include <span>

#include "app/transfer/conversation_document.h"
#include "app/transfer/import_report.h"

namespace glmchat {

/// glmchat's own JSON file, described in app/transfer/README.md. Everything of a document is written and read
/// back; the same documents give the same bytes.
inline constexpr QStringView kDocumentFormat = u"glmchat-conversations";
inline constexpr qint64 kDocumentVersion = 1;

QByteArray toJson(std::span<const ConversationDocument> conversations, const QString& appVersion);

/// One element of "conversations". What is not understood goes to the `unknown` members and into the report.
ConversationDocument conversationFromJson(JsonObject object, ImportReport& report);

}  // namespace glmchat
