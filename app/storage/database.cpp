#include "app/storage/database.h"

#include <QDir>
#include <QFileInfo>
#include <QSqlError>
#include <QSqlQuery>
#include <QUuid>
#include <QVariant>
#include <initializer_list>

#include "app/storage/migrations.h"
#include "app/storage/move_aside.h"

namespace glmchat {
namespace {

using Kind = StorageProblem::Kind;

// SQLite's primary result codes.
constexpr int kSqliteCorrupt = 11;
constexpr int kSqliteNotADatabase = 26;

/// Beside the database there may be its log and shared memory; they belong together.
constexpr std::initializer_list<const char*> kCompanions{"-wal", "-shm"};

int resultCode(const QSqlError& error) {
    return error.nativeErrorCode().toInt() & 0xFF;
}

bool saysDamaged(const QSqlError& error) {
    return resultCode(error) == kSqliteCorrupt || resultCode(error) == kSqliteNotADatabase;
}

/// The first value of the first row; invalid when the statement failed.
QVariant firstValue(const QSqlDatabase& connection, const QString& statement, QSqlError& error) {
    QSqlQuery query(connection);
    const bool done = query.exec(statement);
    error = query.lastError();
    return done && query.next() ? query.value(0) : QVariant();
}

QString moveDatabaseAside(const QString& path, const QString& reason) {
    const QString moved = moveAside(path, reason);
    if (moved.isEmpty()) return {};
    for (const char* companion : kCompanions) {
        const QString suffix = QString::fromLatin1(companion);
        if (QFile::exists(path + suffix)) QFile::rename(path + suffix, moved + suffix);
    }
    return moved;
}

}  // namespace

QString Database::filePath(const QString& folder) {
    return QDir(folder).filePath(QStringLiteral("conversations.sqlite"));
}

Database::Opening Database::open(const QString& folder) {
    std::optional<StorageProblem> problem;
    std::unique_ptr<Database> database = openFile(folder, problem);
    if (database || !problem || (problem->kind != Kind::DamagedFile && problem->kind != Kind::ForeignFile)) {
        return {std::move(database), problem};
    }
    const QString reason =
        problem->kind == Kind::DamagedFile ? QStringLiteral("damaged") : QStringLiteral("foreign");
    const QString moved = moveDatabaseAside(problem->path, reason);
    if (moved.isEmpty()) return {nullptr, StorageProblem{Kind::CannotOpen, problem->path, problem->detail}};
    std::optional<StorageProblem> second_problem;
    database = openFile(folder, second_problem);
    if (second_problem) return {nullptr, second_problem};
    problem->detail = moved;
    return {std::move(database), problem};
}

std::unique_ptr<Database> Database::openFile(const QString& folder, std::optional<StorageProblem>& problem) {
    std::unique_ptr<Database> database(new Database(folder));
    if (const Step ready = database->prepare(); !ready) {
        problem = ready.error();
        return nullptr;
    }
    return database;
}

Database::Database(const QString& folder)
    : m_path(filePath(folder)), m_lock(QDir(folder).filePath(QStringLiteral("glmchat.lock"))) {
    m_lock.setStaleLockTime(0);  // a lock is stale only when its process is gone
}

Database::~Database() {
    const QString name = m_connection.connectionName();
    m_connection.close();
    m_connection = QSqlDatabase();
    QSqlDatabase::removeDatabase(name);
}

Database::Step Database::prepare() {
    return lock()
        .and_then([this] { return connect(); })
        .and_then([this] { return checkOwner(); })
        .and_then([this] { return checkHealth(); })
        .and_then([this] { return configure(); })
        .and_then([this] { return migrate(); });
}

Database::Step Database::lock() {
    const QString folder = QFileInfo(m_path).path();
    const bool folderExists = QDir().mkpath(folder);
    if (folderExists && m_lock.tryLock(0)) return {};
    const bool inUse = folderExists && m_lock.error() == QLockFile::LockFailedError;
    return tl::unexpected(StorageProblem{inUse ? Kind::InUse : Kind::FolderNotWritable, folder, {}});
}

Database::Step Database::connect() {
    if (const QFileInfo file(m_path); file.exists() && file.size() == 0) {
        return tl::unexpected(StorageProblem{Kind::DamagedFile, m_path, QStringLiteral("the file is empty")});
    }
    m_connection = QSqlDatabase::addDatabase(QStringLiteral("QSQLITE"), QUuid::createUuid().toString());
    m_connection.setDatabaseName(m_path);
    if (m_connection.open()) return {};
    return tl::unexpected(StorageProblem{Kind::CannotOpen, m_path, m_connection.lastError().text()});
}

/// Ours, of a version we know, or new.
Database::Step Database::checkOwner() {
    QSqlError error;
    const QVariant owner = firstValue(m_connection, QStringLiteral("PRAGMA application_id"), error);
    const QVariant tables =
        owner.isValid()
            ? firstValue(m_connection, QStringLiteral("SELECT count(*) FROM sqlite_master"), error)
            : owner;
    if (!tables.isValid()) {
        return tl::unexpected(
            StorageProblem{saysDamaged(error) ? Kind::DamagedFile : Kind::CannotOpen, m_path, error.text()});
    }
    const bool isNew = owner.toInt() == 0 && tables.toInt() == 0;
    if (isNew) return {};
    if (owner.toInt() != kApplicationId) return tl::unexpected(StorageProblem{Kind::ForeignFile, m_path, {}});
    const int version = firstValue(m_connection, QStringLiteral("PRAGMA user_version"), error).toInt();
    if (version <= static_cast<int>(migrations().size())) return {};
    return tl::unexpected(
        StorageProblem{Kind::NewerFile, m_path, QStringLiteral("schema version %1").arg(version)});
}

Database::Step Database::checkHealth() {
    QSqlError error;
    const QString finding =
        firstValue(m_connection, QStringLiteral("PRAGMA quick_check(1)"), error).toString();
    if (finding == u"ok") return {};
    return tl::unexpected(
        StorageProblem{Kind::DamagedFile, m_path, finding.isEmpty() ? error.text() : finding});
}

Database::Step Database::configure() {
    QSqlQuery query(m_connection);
    for (const char* statement :
         {"PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL", "PRAGMA foreign_keys = ON"}) {
        if (query.exec(QString::fromLatin1(statement))) continue;
        return tl::unexpected(StorageProblem{Kind::CannotOpen, m_path, query.lastError().text()});
    }
    return {};
}

/// The steps that are missing, each with its new version number in one transaction.
Database::Step Database::migrate() {
    QSqlError error;
    const int version = firstValue(m_connection, QStringLiteral("PRAGMA user_version"), error).toInt();
    const auto steps = migrations();
    for (std::size_t step = static_cast<std::size_t>(version); step < steps.size(); ++step) {
        QStringList statements = steps[step];
        statements << QStringLiteral("PRAGMA user_version = %1").arg(step + 1)
                   << QStringLiteral("PRAGMA application_id = %1").arg(kApplicationId);
        QSqlQuery query(m_connection);
        m_connection.transaction();
        for (const QString& statement : statements) {
            if (query.exec(statement)) continue;
            const StorageProblem problem{Kind::CannotOpen, m_path, query.lastError().text()};
            m_connection.rollback();
            return tl::unexpected(problem);
        }
        if (!m_connection.commit()) {
            return tl::unexpected(StorageProblem{Kind::CannotOpen, m_path, m_connection.lastError().text()});
        }
    }
    return {};
}

}  // namespace glmchat
