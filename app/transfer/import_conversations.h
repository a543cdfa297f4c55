#pragma once

#include <QByteArrayView>
#include <QList>
#include <stop_token>

#include <tl/expected.hpp>

#include "app/transfer/conversation_document.h"
#include "app/transfer/import_report.h"
#include "app/transfer/json_reader.h"
#include "app/transfer/transfer_error.h"

namespace glmchat {

/// What an import brought.
struct ImportResult {
    QList<ConversationDocument> conversations;
    ImportReport report;
};

inline constexpr qint64 kMaxImportBytes = qint64{1} << 30;

/// Reads conversations out of JSON, whoever wrote it: glmchat, ChatGPT (conversations.json), ShareGPT, lists
/// of
/// {"role", "content"}; one or many, in an array, in an object, or one per line. What it is is told from the
/// content. All or nothing: a broken text gives no conversation. For a worker thread; `progress` is called on
/// it.
/// @param name  of the file, for messages
/// Errors: NotJson, TooDeep, NoConversations, Cancelled.
tl::expected<ImportResult, TransferError> importConversations(QByteArrayView text, const QString& name,
                                                              std::stop_token stop = {},
                                                              TransferProgress progress = {});

/// The same from a file. Errors: also CannotRead, TooBig.
tl::expected<ImportResult, TransferError> importFile(const QString& path, std::stop_token stop = {},
                                                     TransferProgress progress = {});

}  // namespace glmchat
