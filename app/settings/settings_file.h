#pragma once

#include <QJsonObject>
#include <QObject>
#include <QThreadPool>
#include <QTimer>

namespace glmchat {

/// settings.json: a flat object. Read once; changes are written together 500 ms after the last one, through a
/// /// temporary file, on a thread of their own: a slow disk never stops the window. A damaged file is moved
/// aside and the defaults are used. GUI thread.
class SettingsFile : public QObject {
    Q_OBJECT

  public:
    explicit SettingsFile(const QString& path, QObject* parent = nullptr);
    ~SettingsFile() override;  ///< writes what is waiting

    QJsonValue value(const QString& key) const { return m_values.value(key); }
    void setValue(const QString& key, const QJsonValue& value);

    void flush();  ///< writes now what is waiting, and waits for it

    /// Where a damaged file was moved at start; "" when there was none.
    QString movedAside() const { return m_movedAside; }

  signals:
    void writeFailed(const QString& path, const QString& reason);

  private:
    void read();
    void startWriting();

    const QString m_path;
    QJsonObject m_values;
    QString m_movedAside;
    QTimer m_writeTimer;
    QThreadPool m_writer;  ///< one thread: writes keep their order
};

}  // namespace glmchat
