#pragma once

#include <QMetaType>
#include <QObject>
#include <memory>
#include <optional>

#include "app/storage/records.h"
#include "app/storage/storage_problem.h"

namespace glmchat {

class ConversationStore;

// The values that cross between the GUI thread and the storage thread.

struct StorageOpened {
    std::optional<StorageProblem> problem;
    ConversationSnapshot last;  ///< what was open when the program ended
};
struct SaveRequest {
    quint64 ticket = 0;
    ConversationRecord conversation;
    QList<MessageRecord> messages;
};
struct SaveOutcome {
    quint64 ticket = 0;
    std::optional<StorageProblem> problem;  ///< none: it is on the disk
};

/// Lives on the storage thread and writes there, so that a slow disk never stops the window. StorageClient
/// lists the crossings.
class StorageWorker : public QObject {
    Q_OBJECT

  public:
    StorageWorker();
    ~StorageWorker() override;

  public slots:
    void open(const QString& folder);
    void save(const glmchat::SaveRequest& request);

  signals:
    void opened(const glmchat::StorageOpened& outcome);
    void saved(const glmchat::SaveOutcome& outcome);

  private:
    std::unique_ptr<ConversationStore> m_store;  ///< null: nothing is kept
};

}  // namespace glmchat

Q_DECLARE_METATYPE(glmchat::StorageOpened)
Q_DECLARE_METATYPE(glmchat::SaveRequest)
Q_DECLARE_METATYPE(glmchat::SaveOutcome)
