#pragma once

#include <QSqlDatabase>
#include <QSqlError>
#include <QSqlQuery>
#include <QString>
#include <QVariantList>

namespace glmchat {

/// Runs statements on one connection and keeps the reason when one fails. The connection's thread.
class Sql {
  public:
    explicit Sql(const QSqlDatabase& connection) : m_connection(connection) {}

    /// @param values for the ?s, in order @return a query to read rows from; not active when it failed
    QSqlQuery run(const QString& statement, const QVariantList& values = {});
    bool done(const QString& statement, const QVariantList& values = {}) {
        return run(statement, values).isActive();
    }

    /// Commits what `body` did when it returns true, else nothing of it stays. @return whether it is on the
    /// disk
    template <typename Body>
    bool inTransaction(Body&& body) {
        if (!begin()) return false;
        if (body() && commit()) return true;
        m_connection.rollback();
        return false;
    }

    const QSqlError& error() const { return m_error; }  ///< of the statement that failed last

  private:
    bool begin();
    bool commit();

    QSqlDatabase m_connection;
    QSqlError m_error;
};

QVariant idOrNull(const QString& id);     ///< NULL for ""
QString notNull(const QString& text);     ///< a null QString would be stored as NULL
QString storedText(const QString& text);  ///< SQLite keeps UTF-8: a lone surrogate becomes U+FFFD

/// "?, ?, ?" for `count` values.
QString placeholders(qsizetype count);
QVariantList toVariants(const QStringList& ids);

}  // namespace glmchat
