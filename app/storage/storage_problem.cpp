#include "app/storage/storage_problem.h"

#include <QCoreApplication>
#include <QDir>

namespace glmchat {
namespace {

struct StorageText {
    Q_DECLARE_TR_FUNCTIONS(glmchat::StorageText)
};

struct Words {
    QString title;
    QString message;
};

QString goesOn() {
    return StorageText::tr("The chat goes on, but is lost when the window closes.");
}

Words wordsFor(StorageProblem::Kind kind) {
    using Kind = StorageProblem::Kind;
    switch (kind) {
        case Kind::DamagedFile:
            return {StorageText::tr("The conversation file was damaged"),
                    StorageText::tr("%1 cannot be read. It was kept as %2, and a new file was started.")};
        case Kind::ForeignFile:
            return {StorageText::tr("The conversation file belongs to another program"),
                    StorageText::tr(
                        "%1 was not written by glmchat. It was kept as %2, and a new file was started.")};
        case Kind::NewerFile:
            return {
                StorageText::tr("Conversations of a newer glmchat"),
                StorageText::tr(
                    "%1 was written by a newer version and is left untouched. Update glmchat to see it, or "
                    "choose another folder with --data-dir.") +
                    u' ' + goesOn()};
        case Kind::InUse:
            return {
                StorageText::tr("glmchat is already open"),
                StorageText::tr("Another glmchat window keeps its conversations in %1.") + u' ' + goesOn()};
        case Kind::FolderNotWritable:
            return {StorageText::tr("Conversations cannot be saved"),
                    StorageText::tr(
                        "The folder %1 cannot be written. Check its permissions, or choose another one with "
                        "--data-dir.") +
                        u' ' + goesOn()};
        case Kind::CannotOpen:
            return {StorageText::tr("Conversations cannot be saved"),
                    StorageText::tr(
                        "%1 cannot be opened: %2. Check the folder's permissions, or choose another one with "
                        "--data-dir.") +
                        u' ' + goesOn()};
        case Kind::DiskFull:
            return {
                StorageText::tr("This conversation is not being saved"),
                StorageText::tr(
                    "The disk is full, %1 cannot grow. Free some space; saving is tried again with the next "
                    "message.") +
                    u' ' + goesOn()};
        case Kind::CannotWrite:
            return {
                StorageText::tr("This conversation is not being saved"),
                StorageText::tr("%1 cannot be written: %2. Saving is tried again with the next message.") +
                    u' ' + goesOn()};
        case Kind::NotOpen:
            return {};
    }
    return {};
}

}  // namespace

StorageProblem writeProblem(const QSqlError& error, const QString& path) {
    constexpr int kSqliteFull = 13;  // primary result code
    const bool full = (error.nativeErrorCode().toInt() & 0xFF) == kSqliteFull;
    return {full ? StorageProblem::Kind::DiskFull : StorageProblem::Kind::CannotWrite, path, error.text()};
}

ErrorContent describe(const StorageProblem& problem) {
    const Words words = wordsFor(problem.kind);
    QString message = words.message;
    message.replace(QStringLiteral("%1"), QDir::toNativeSeparators(problem.path));
    message.replace(QStringLiteral("%2"), QDir::toNativeSeparators(problem.detail));
    return {QStringLiteral("storage"), words.title, message, problem.detail};
}

}  // namespace glmchat
