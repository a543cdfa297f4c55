#pragma once

#include <QObject>
#include <QThread>
#include <chrono>
#include <memory>

#include "app/inference/engine_state.h"
#include "app/inference/engine_worker.h"

namespace glmchat {

/// The GUI thread's side of the engine: one state, one model, one running answer. Never blocks, except
/// shutDown(). Stopping, unloading, loading another model and quitting end a running answer the same way. GUI
/// thread.
class EngineClient : public QObject {
    Q_OBJECT

  public:
    explicit EngineClient(std::unique_ptr<InferenceEngine> engine, QObject* parent = nullptr);
    ~EngineClient() override;

    EngineState::Value state() const { return m_state; }
    bool isGenerating() const { return m_generationId != 0; }
    const ChatEngineInfo& info() const { return m_info; }  ///< of the loaded model; empty when there is none

    void load(const ChatEngineOptions& options);  ///< gives up a load or a model that is there
    void cancelLoad();
    void unload();

    /// Starts an answer; only in state Ready. Its events come through chatEvent().
    void chat(ChatRequest request);
    void stop();  ///< the running answer ends with ChatFinished{kCancelled}

    /// Ends everything and waits at most `timeout`. @return false when the engine is still busy: the process
    /// must then end without running destructors.
    bool shutDown(std::chrono::milliseconds timeout);

  signals:
    void stateChanged();
    void loadProgressed(float fraction);
    void loaded();
    void loadFailed(const glmchat::Status& status);
    void loadCancelled();
    void chatEvent(const glmchat::ChatEvent& event);  ///< of the running answer only; late ones are dropped
    void chatAbandoned();  ///< the model went away under the running answer: no more events will come

    // The crossings to the engine thread.
    void loadRequested(const glmchat::LoadRequest& request, QPrivateSignal);
    void unloadRequested(QPrivateSignal);
    void chatRequested(const glmchat::ChatRequest& request, QPrivateSignal);
    void cancelRequested(quint64 generationId, QPrivateSignal);

  private:
    void connectWorker();
    void takeLoadProgress(const LoadProgress& progress);
    void takeLoadOutcome(const LoadOutcome& outcome);
    void takeChatEvents(const ChatEvents& events);
    void takeChatEvent(const ChatEvent& event);
    void endEverything();
    void setState(EngineState::Value state);

    QThread m_thread;
    EngineWorker* const m_worker;  ///< lives on m_thread, deleted when it ends
    EngineState::Value m_state = EngineState::NoModel;
    ChatEngineInfo m_info;
    std::stop_source m_loadStop;
    quint64 m_lastId = 0;
    quint64 m_loadId = 0;        ///< of the running load; 0 = none
    quint64 m_generationId = 0;  ///< of the running answer; 0 = none
};

}  // namespace glmchat
