#pragma once

#include <QMetaType>
#include <QSqlError>
#include <QString>

#include "app/chat/error_card.h"

namespace glmchat {

/// Why conversations are not kept, or what became of the file they were in. A value: made on the storage
/// thread, put into words on the GUI thread.
struct StorageProblem {
    enum class Kind {
        DamagedFile,        ///< moved aside; a new file is in use
        ForeignFile,        ///< not ours; moved aside; a new file is in use
        NewerFile,          ///< of a newer glmchat; left as it is, nothing is kept
        InUse,              ///< another window has the folder; nothing is kept
        FolderNotWritable,  ///< nothing is kept
        CannotOpen,         ///< nothing is kept
        DiskFull,           ///< this write failed; later ones are tried
        CannotWrite,        ///< this write failed; later ones are tried
        NotOpen,            ///< a write after one of the above, already told
    };
    Kind kind = Kind::NotOpen;
    QString path;    ///< the file or folder
    QString detail;  ///< where it was moved, or the reason given by the system
};

/// Why a statement that writes failed.
StorageProblem writeProblem(const QSqlError& error, const QString& path);

/// Translated; topic "storage".
ErrorContent describe(const StorageProblem& problem);

}  // namespace glmchat
