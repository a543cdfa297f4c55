#include "app/storage/storage_client.h"

#include <QDeadlineTimer>

namespace glmchat {

StorageClient::StorageClient(QObject* parent) : QObject(parent), m_worker(new StorageWorker) {
    qRegisterMetaType<StorageOpened>();
    qRegisterMetaType<SaveRequest>();
    qRegisterMetaType<SaveOutcome>();
    m_thread.setObjectName(QStringLiteral("storage"));
    m_worker->moveToThread(&m_thread);
    connectWorker();
    m_thread.start();
}

/// Every crossing between the GUI thread and the storage thread, all queued.
void StorageClient::connectWorker() {
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);

    connect(this, &StorageClient::openRequested, m_worker, &StorageWorker::open);
    connect(this, &StorageClient::saveRequested, m_worker, &StorageWorker::save);
    // Runs on the storage thread, after all that was asked for before.
    connect(this, &StorageClient::shutDownRequested, m_worker, [this] { m_thread.quit(); });

    connect(m_worker, &StorageWorker::opened, this, &StorageClient::opened);
    connect(m_worker, &StorageWorker::saved, this, &StorageClient::saved);
}

StorageClient::~StorageClient() {
    shutDown(std::chrono::milliseconds::max());
}

void StorageClient::open(const QString& folder) {
    emit openRequested(folder, {});
}

quint64 StorageClient::save(const ConversationRecord& conversation, const QList<MessageRecord>& messages) {
    emit saveRequested({++m_lastTicket, conversation, messages}, {});
    return m_lastTicket;
}

bool StorageClient::shutDown(std::chrono::milliseconds timeout) {
    if (!m_thread.isRunning()) return true;
    emit shutDownRequested({});
    return m_thread.wait(timeout == std::chrono::milliseconds::max() ? QDeadlineTimer(QDeadlineTimer::Forever)
                                                                     : QDeadlineTimer(timeout));
}

}  // namespace glmchat
