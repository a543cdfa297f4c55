#include "app/storage/move_aside.h"

#include <QDateTime>
#include <QFile>

namespace glmchat {

QString moveAside(const QString& path, const QString& reason) {
    const QString stamp = QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"));
    const QString base = QStringLiteral("%1.%2-%3").arg(path, reason, stamp);
    QString target = base;
    for (int number = 2; QFile::exists(target); ++number)
        target = QStringLiteral("%1-%2").arg(base).arg(number);
    return QFile::rename(path, target) ? target : QString();
}

}  // namespace glmchat
