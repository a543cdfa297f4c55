#include "app/storage/sql.h"

namespace glmchat {

QSqlQuery Sql::run(const QString& statement, const QVariantList& values) {
    QSqlQuery query(m_connection);
    query.setForwardOnly(true);
    bool done = query.prepare(statement);
    if (done) {
        for (const QVariant& value : values) query.addBindValue(value);
        done = query.exec();
    }
    if (!done) m_error = query.lastError();
    return query;
}

bool Sql::begin() {
    if (m_connection.transaction()) return true;
    m_error = m_connection.lastError();
    return false;
}

bool Sql::commit() {
    if (m_connection.commit()) return true;
    m_error = m_connection.lastError();
    return false;
}

QVariant idOrNull(const QString& id) {
    return id.isEmpty() ? QVariant(QMetaType::fromType<QString>()) : QVariant(id);
}

QString notNull(const QString& text) {
    return text.isNull() ? QStringLiteral("") : text;
}

QString storedText(const QString& text) {
    if (text.isValidUtf16()) return notNull(text);
    QString valid = text;
    for (qsizetype i = 0; i < valid.size(); ++i) {
        const bool isPair =
            valid[i].isHighSurrogate() && i + 1 < valid.size() && valid[i + 1].isLowSurrogate();
        if (isPair) {
            ++i;
        } else if (valid[i].isSurrogate()) {
            valid[i] = QChar::ReplacementCharacter;
        }
    }
    return valid;
}

QString placeholders(qsizetype count) {
    return QStringList(count, QStringLiteral("?")).join(QStringLiteral(", "));
}

QVariantList toVariants(const QStringList& ids) {
    return {ids.begin(), ids.end()};
}

}  // namespace glmchat
