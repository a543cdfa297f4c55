#include "app/settings/settings_file.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QSaveFile>

#include "app/storage/move_aside.h"

namespace glmchat {
namespace {

constexpr int kWriteDelayMs = 500;
constexpr qint64 kMaxFileBytes = 1024 * 1024;

}  // namespace

SettingsFile::SettingsFile(const QString& path, QObject* parent) : QObject(parent), m_path(path) {
    m_writeTimer.setSingleShot(true);
    m_writeTimer.setInterval(kWriteDelayMs);
    connect(&m_writeTimer, &QTimer::timeout, this, &SettingsFile::flush);
    read();
}

SettingsFile::~SettingsFile() {
    if (m_writeTimer.isActive()) flush();
}

void SettingsFile::read() {
    QFile file(m_path);
    if (!file.exists()) return;
    const QByteArray bytes = file.open(QIODevice::ReadOnly) ? file.read(kMaxFileBytes) : QByteArray();
    file.close();
    const QJsonDocument document = QJsonDocument::fromJson(bytes);
    if (document.isObject()) {
        m_values = document.object();
    } else {
        m_movedAside = moveAside(m_path, QStringLiteral("damaged"));
    }
}

void SettingsFile::setValue(const QString& key, const QJsonValue& value) {
    if (m_values.value(key) == value) return;
    m_values.insert(key, value);
    m_writeTimer.start();
}

void SettingsFile::flush() {
    m_writeTimer.stop();
    QDir().mkpath(QFileInfo(m_path).path());
    QSaveFile file(m_path);
    const bool written = file.open(QIODevice::WriteOnly) && file.write(QJsonDocument(m_values).toJson()) >= 0;
    if (!written || !file.commit()) emit writeFailed(m_path, file.errorString());
}

}  // namespace glmchat
