#pragma once

#include <QByteArray>
#include <span>

#include "app/transfer/conversation_document.h"
#include "app/transfer/export_options.h"

namespace glmchat {

/// One file that needs nothing else: no script, no request (its Content-Security-Policy forbids both), light
/// or dark as the reader's system is, fit for printing. The same conversations and options give the same
/// bytes.
QByteArray toHtml(std::span<const ConversationDocument> conversations, const ExportOptions& options);

/// Pages of A4 with page numbers. Needs a QGuiApplication (offscreen will do) for the fonts.
/// @return the file; empty when it could not be drawn
QByteArray toPdf(std::span<const ConversationDocument> conversations, const ExportOptions& options);

}  // namespace glmchat
