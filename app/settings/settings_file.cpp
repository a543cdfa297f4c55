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
    m_writer.setMaxThreadCount(1);
    m_writeTimer.setSingleShot(true);
    m_writeTimer.setInterval(kWriteDelayMs);
    connect(&m_writeTimer, &QTimer::timeout, this, &SettingsFile::startWriting);
    read();
}

SettingsFile::~SettingsFile() {
    flush();
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

void SettingsFile::startWriting() {
    m_writeTimer.stop();
    m_writer.start([this, bytes = QJsonDocument(m_values).toJson()] {
        QDir().mkpath(QFileInfo(m_path).path());
        QSaveFile file(m_path);
        const bool written = file.open(QIODevice::WriteOnly) && file.write(bytes) >= 0;
        if (written && file.commit()) return;
        const QString reason = file.errorString();
        QMetaObject::invokeMethod(
            this, [this, reason] { emit writeFailed(m_path, reason); }, Qt::QueuedConnection);
    });
}

void SettingsFile::flush() {
    if (m_writeTimer.isActive()) startWriting();
    m_writer.waitForDone();
}

}  // namespace glmchat
