#pragma once

#include <QStringList>
#include <span>
#include <stop_token>

#include <tl/expected.hpp>

#include "app/transfer/conversation_document.h"
#include "app/transfer/export_options.h"
#include "app/transfer/json_reader.h"
#include "app/transfer/transfer_error.h"

namespace glmchat {

/// Conversations in one of the formats; several make one file. Empty when a PDF could not be drawn.
QByteArray render(std::span<const ConversationDocument> conversations, ExportFormat format,
                  const ExportOptions& options);

/// Writes a whole file or none: what was there before stays until the new one is complete. Errors:
/// CannotWrite.
tl::expected<void, TransferError> writeFile(const QString& path, const QByteArray& bytes);

/// All conversations into one file, which is replaced when it exists. Errors: CannotWrite, CannotDraw.
tl::expected<void, TransferError> exportToFile(std::span<const ConversationDocument> conversations,
                                               ExportFormat format, const ExportOptions& options,
                                               const QString& path);

/// Each conversation into a file of its own, named by its title; no file that is there is replaced. The
/// folder is made when missing. For a worker thread; `progress` counts conversations. What was written before
/// an error stays.
/// @return names of the files, one per conversation. Errors: CannotMakeFolder, CannotWrite, CannotDraw,
/// Cancelled.
tl::expected<QStringList, TransferError> exportToFolder(std::span<const ConversationDocument> conversations,
                                                        ExportFormat format, const ExportOptions& options,
                                                        const QString& folder, std::stop_token stop = {},
                                                        const TransferProgress& progress = {});

}  // namespace glmchat
