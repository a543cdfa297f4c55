#pragma once

#include <QElapsedTimer>
#include <QHash>
#include <QObject>
#include <QSet>
#include <QTimer>
#include <optional>

#include <QtQml/qqmlregistration.h>

#include "app/chat/error_card.h"
#include "app/chat/message_model.h"
#include "app/inference/engine_client.h"
#include "app/settings/parameter_model.h"
#include "app/storage/storage_client.h"

namespace glmchat {

/// The conversation in front of the user: sends, stops, regenerates, keeps everything on disk. GUI thread.
///
/// The life of an answer: send() shows question and empty answer and has both saved; when they are on the
/// disk (or cannot be saved) the engine starts; its text grows the answer, which is saved every two seconds
/// and when it ends.
class ChatSession : public QObject {
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by main")
    Q_PROPERTY(glmchat::MessageModel* messages READ messages CONSTANT)
    Q_PROPERTY(glmchat::ErrorCard* error READ error CONSTANT)
    Q_PROPERTY(glmchat::EngineState::Value state READ state NOTIFY stateChanged)
    Q_PROPERTY(bool generating READ generating NOTIFY stateChanged)
    Q_PROPERTY(bool canSend READ canSend NOTIFY stateChanged)
    Q_PROPERTY(bool canStop READ canStop NOTIFY stateChanged)
    Q_PROPERTY(bool canRegenerate READ canRegenerate NOTIFY stateChanged)
    Q_PROPERTY(QString draft READ draft WRITE setDraft NOTIFY draftChanged)
    Q_PROPERTY(int prefillDone READ prefillDone NOTIFY progressChanged)
    Q_PROPERTY(int prefillTotal READ prefillTotal NOTIFY progressChanged)
    Q_PROPERTY(double tokensPerSecond READ tokensPerSecond NOTIFY progressChanged)
    Q_PROPERTY(int contextUsed READ contextUsed NOTIFY progressChanged)
    Q_PROPERTY(int contextLimit READ contextLimit NOTIFY progressChanged)
    Q_PROPERTY(int droppedRounds READ droppedRounds NOTIFY progressChanged)
    Q_PROPERTY(QString stateText READ stateText NOTIFY stateTextChanged)

  public:
    static constexpr int kAnswerSaveMs = 2000;
    static constexpr int kDraftSaveMs = 500;

    /// @param engine, storage, parameters must outlive this object
    ChatSession(EngineClient& engine, StorageClient& storage, const ParameterModel& parameters,
                QObject* parent = nullptr);

    MessageModel* messages() { return &m_messages; }
    ErrorCard* error() { return &m_card; }
    EngineState::Value state() const;
    bool generating() const { return m_running.has_value(); }
    bool canSend() const;
    bool canStop() const;
    bool canRegenerate() const;
    QString draft() const { return m_conversation.draft; }
    void setDraft(const QString& draft);
    int prefillDone() const { return m_progress.prefillDone; }
    int prefillTotal() const { return m_progress.prefillTotal; }
    double tokensPerSecond() const { return m_progress.tokensPerSecond; }
    int contextUsed() const { return m_progress.contextUsed; }
    int contextLimit() const { return m_engine.info().context_size; }
    int droppedRounds() const { return m_progress.droppedRounds; }
    QString stateText() const;

    /// @return false, and nothing happens, for white space alone or when !canSend
    Q_INVOKABLE bool send(const QString& text);
    /// Ends the running answer; what was written stays, marked as stopped.
    Q_INVOKABLE void stop();
    /// Makes another answer to the last question. The old one stays in the tree as a sibling.
    Q_INVOKABLE void regenerate();
    /// Leaves this conversation as it is and begins an empty one; the draft comes along.
    Q_INVOKABLE void newChat();
    Q_INVOKABLE void copyMessage(int row) const;

    void shutDown();  ///< ends what runs and hands everything unsaved to the storage
    void retranslate();

  signals:
    void stateChanged();
    void draftChanged();
    void progressChanged();
    void stateTextChanged();

  private:
    /// Numbers under the conversation; of the answer that runs or ran last.
    struct Progress {
        int prefillDone = 0;
        int prefillTotal = 0;
        double tokensPerSecond = 0;
        int contextUsed = 0;
        int droppedRounds = 0;
    };
    /// The answer being made; always the last message.
    struct RunningAnswer {
        AnswerRecord record;
        quint64 saveTicket = 0;  ///< the engine starts when this save is over
        bool engineStarted = false;
        QElapsedTimer sinceSent;
        QElapsedTimer sinceFirstText;
    };
    /// Ids with which the next round continues the kept KV cache. Only in memory.
    struct KeptIds {
        std::vector<std::int32_t> promptIds;
        std::vector<std::int32_t> answerIds;
    };

    /// What is on its way to the disk.
    struct Saving {
        QHash<quint64, QSet<QString>> messageIds;  ///< by ticket
        quint64 lastTicket = 0;
        bool toldFailure = false;  ///< the user knows that saving fails
    };

    void connectEngine();
    void announceState();
    void startConversation(const QString& draft);
    void beginAnswer(const QString& parentId);
    void startEngine();
    AnswerRecord newAnswerRecord() const;
    std::vector<ChatMessage> history() const;

    void takeEvent(const ChatEvent& event);
    void take(const ChatStarted& started);
    void take(const PrefillProgress& progress);
    void take(const ChatText& text);
    void take(const ChatFinished& finished);
    void take(const ChatFailed& failed);
    void endAnswer(MessageStatus::Value status, const QString& stopReason);
    void leaveAnswer();

    void takeStorageOpened(const StorageOpened& outcome);
    void takeSaved(const SaveOutcome& outcome);
    void showStorageProblem(const StorageProblem& problem);
    void saveMessage(const QString& messageId);
    void save();

    EngineClient& m_engine;
    StorageClient& m_storage;
    const ParameterModel& m_parameters;
    ErrorCard m_card;
    MessageModel m_messages;
    ConversationRecord m_conversation;
    std::optional<RunningAnswer> m_running;
    Progress m_progress;
    QHash<QString, KeptIds> m_keptIds;  ///< by message id
    QSet<QString> m_unsaved;            ///< ids of messages the disk does not have as they are now
    Saving m_saving;
    QTimer m_answerTimer;
    QTimer m_draftTimer;
};

}  // namespace glmchat
