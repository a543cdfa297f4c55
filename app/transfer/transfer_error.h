#pragma once

#include <QString>

namespace glmchat {

/// Why an export or import came to nothing. `message`: one English sentence or two that name the file and say
/// what to do; `kind` and `path` let the window say it in its own language.
struct TransferError {
    enum class Kind {
        CannotRead,        ///< no such file, no permission, a failing disk
        TooBig,            ///< bigger than kMaxImportBytes
        NotJson,           ///< broken; the message has line and column
        TooDeep,           ///< nested deeper than JsonReader::kMaxDepth
        NoConversations,   ///< good JSON, but nothing in it that we know
        CannotMakeFolder,  ///< of the export
        CannotWrite,       ///< no permission, disk full; no half file is left
        CannotDraw,        ///< the PDF could not be made
        Cancelled,
    };
    Kind kind = Kind::CannotRead;
    QString path;
    QString message;
};

}  // namespace glmchat
