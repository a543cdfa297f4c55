#include "app/inference/load_marker.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLoggingCategory>
#include <QSaveFile>

namespace glmchat {
namespace {

Q_LOGGING_CATEGORY(logMarker, "glmchat.load")

constexpr qint64 kMaxPathBytes = 16 * 1024;

}  // namespace

void LoadMarker::write(const QString& modelFolder) const {
    QDir().mkpath(QFileInfo(m_path).path());
    QSaveFile file(m_path);
    if (!file.open(QIODevice::WriteOnly) || file.write(modelFolder.toUtf8()) < 0 || !file.commit()) {
        qCWarning(logMarker) << "cannot write" << m_path << file.errorString();
    }
}

void LoadMarker::clear() const {
    QFile::remove(m_path);
}

QString LoadMarker::interruptedFolder() const {
    QFile file(m_path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.read(kMaxPathBytes)) : QString();
}

}  // namespace glmchat
