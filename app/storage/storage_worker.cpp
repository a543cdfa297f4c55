#include "app/storage/storage_worker.h"

#include "app/storage/conversation_store.h"

namespace glmchat {

StorageWorker::StorageWorker() = default;
StorageWorker::~StorageWorker() = default;

void StorageWorker::open(const QString& folder) {
    Database::Opening opening = Database::open(folder);
    StorageOpened outcome{opening.problem, {}};
    if (opening.database) {
        m_store = std::make_unique<ConversationStore>(std::move(opening.database));
        if (auto last = m_store->loadLast()) {
            outcome.last = *last;
        } else {
            outcome.problem = last.error();
        }
    }
    emit opened(outcome);
}

void StorageWorker::save(const SaveRequest& request) {
    if (!m_store) {
        emit saved({request.ticket, StorageProblem{}});
        return;
    }
    const auto written = m_store->save(request.conversation, request.messages);
    emit saved({request.ticket, written ? std::nullopt : std::optional(written.error())});
}

}  // namespace glmchat
