#include "app/inference/load_marker.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLoggingCategory>

namespace glmchat {
namespace {

Q_LOGGING_CATEGORY(logMarker, "glmchat.load")

constexpr qint64 kMaxPathBytes = 16 * 1024;

}  // namespace

void LoadMarker::write(const QString& modelFolder) const {
    QDir().mkpath(QFileInfo(m_path).path());
    QFile file(m_path);  // outlives the process at once; no need to wait for the disk
    if (!file.open(QIODevice::WriteOnly) || file.write(modelFolder.toUtf8()) < 0) {
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
