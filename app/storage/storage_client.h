#pragma once

#include <QObject>
#include <QThread>
#include <chrono>

#include "app/storage/storage_worker.h"

namespace glmchat {

/// The GUI thread's side of the storage. Calls return at once; their outcomes come as signals, in order. GUI
/// thread.
class StorageClient : public QObject {
    Q_OBJECT

  public:
    explicit StorageClient(QObject* parent = nullptr);
    ~StorageClient() override;

    void open(const QString& folder);

    /// @return the ticket under which saved() will report
    quint64 save(const ConversationRecord& conversation, const QList<MessageRecord>& messages);

    /// Waits, at most `timeout`, until everything asked for is written. @return false when it was not.
    bool shutDown(std::chrono::milliseconds timeout);

  signals:
    void opened(const glmchat::StorageOpened& outcome);
    void saved(const glmchat::SaveOutcome& outcome);

    // The crossings to the storage thread.
    void openRequested(const QString& folder, QPrivateSignal);
    void saveRequested(const glmchat::SaveRequest& request, QPrivateSignal);
    void shutDownRequested(QPrivateSignal);

  private:
    void connectWorker();

    QThread m_thread;
    StorageWorker* const m_worker;  ///< lives on m_thread, deleted when it ends
    quint64 m_lastTicket = 0;
};

}  // namespace glmchat
