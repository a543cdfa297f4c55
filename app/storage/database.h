#pragma once

#include <QLockFile>
#include <QSqlDatabase>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "app/storage/storage_problem.h"

namespace glmchat {

/// The open conversation database of one data folder: locked, checked, migrated. SQLite in WAL mode, every
/// commit on the disk. One thread: the one that opened it.
class Database {
  public:
    /// What came of opening: a database or none, and what the user should be told.
    struct Opening {
        std::unique_ptr<Database> database;  ///< null: nothing can be kept
        std::optional<StorageProblem> problem;
    };

    /// Opens or makes `folder`/conversations.sqlite. A damaged or foreign file is moved aside and a new one
    /// made; a file of a newer version is left alone.
    static Opening open(const QString& folder);
    static QString filePath(const QString& folder);

    ~Database();
    Database(const Database&) = delete;
    Database& operator=(const Database&) = delete;

    const QSqlDatabase& sql() const { return m_connection; }
    const QString& path() const { return m_path; }

  private:
    using Step = tl::expected<void, StorageProblem>;

    explicit Database(const QString& folder);
    static std::unique_ptr<Database> openFile(const QString& folder, std::optional<StorageProblem>& problem);
    Step prepare();
    Step lock();
    Step connect();
    Step checkOwner();
    Step checkHealth();
    Step configure();
    Step migrate();

    const QString m_path;
    QLockFile m_lock;
    QSqlDatabase m_connection;
};

}  // namespace glmchat
