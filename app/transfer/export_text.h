#pragma once

#include <QByteArray>
#include <span>

#include "app/transfer/conversation_document.h"
#include "app/transfer/export_options.h"

namespace glmchat {

// UTF-8, lines end with \n. The same conversations and options give the same bytes.

QByteArray toMarkdown(std::span<const ConversationDocument> conversations, const ExportOptions& options);
QByteArray toPlainText(std::span<const ConversationDocument> conversations, const ExportOptions& options);

/// `text` in Markdown that stands under a heading of level 2: as it is where it can, else with its headings
/// two levels lower, tags escaped and its last fence closed, else as source in a fence longer than any
/// in it.
QString embedMarkdown(const QString& text);

}  // namespace glmchat
