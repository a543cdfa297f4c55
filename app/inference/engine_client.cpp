#include "app/inference/engine_client.h"

#include <utility>

namespace glmchat {

EngineClient::EngineClient(std::unique_ptr<InferenceEngine> engine, QObject* parent)
    : QObject(parent), m_worker(new EngineWorker(std::move(engine))) {
    qRegisterMetaType<LoadRequest>();
    qRegisterMetaType<LoadProgress>();
    qRegisterMetaType<LoadOutcome>();
    qRegisterMetaType<ChatRequest>();
    qRegisterMetaType<ChatEvents>();
    m_thread.setObjectName(QStringLiteral("engine"));
    m_worker->moveToThread(&m_thread);
    connectWorker();
    m_thread.start();
}

/// Every crossing between the GUI thread and the engine thread, all queued. (A load is also reached by its
/// stop_token.)
void EngineClient::connectWorker() {
    connect(&m_thread, &QThread::finished, m_worker, &QObject::deleteLater);

    connect(this, &EngineClient::loadRequested, m_worker, &EngineWorker::load);
    connect(this, &EngineClient::unloadRequested, m_worker, &EngineWorker::unload);
    connect(this, &EngineClient::chatRequested, m_worker, &EngineWorker::chat);
    connect(this, &EngineClient::cancelRequested, m_worker, &EngineWorker::cancel);

    connect(m_worker, &EngineWorker::loadProgressed, this, &EngineClient::takeLoadProgress);
    connect(m_worker, &EngineWorker::loadEnded, this, &EngineClient::takeLoadOutcome);
    connect(m_worker, &EngineWorker::chatAdvanced, this, &EngineClient::takeChatEvents);
}

EngineClient::~EngineClient() {
    shutDown(std::chrono::milliseconds::max());
}

void EngineClient::load(const ChatEngineOptions& options) {
    endEverything();
    m_loadStop = std::stop_source();
    m_loadId = ++m_lastId;
    setState(EngineState::Loading);
    emit loadRequested({m_loadId, options, m_loadStop.get_token()}, {});
}

void EngineClient::cancelLoad() {
    if (m_state != EngineState::Loading) return;
    unload();
    emit loadCancelled();
}

void EngineClient::unload() {
    endEverything();
    emit unloadRequested({});
    setState(EngineState::NoModel);
}

void EngineClient::chat(ChatRequest request) {
    Q_ASSERT(m_state == EngineState::Ready);
    m_generationId = ++m_lastId;
    request.generation_id = m_generationId;
    setState(EngineState::Prefilling);
    emit chatRequested(request, {});
}

void EngineClient::stop() {
    if (!isGenerating() || m_state == EngineState::Stopping) return;
    setState(EngineState::Stopping);
    emit cancelRequested(m_generationId, {});
}

bool EngineClient::shutDown(std::chrono::milliseconds timeout) {
    if (!m_thread.isRunning()) return true;
    endEverything();
    m_thread.quit();  // the worker frees the model when its thread ends
    return m_thread.wait(timeout == std::chrono::milliseconds::max() ? QDeadlineTimer(QDeadlineTimer::Forever)
                                                                     : QDeadlineTimer(timeout));
}

/// What is running now is over for this side at once; the other side hears of it and its late answers are
/// dropped.
void EngineClient::endEverything() {
    if (std::exchange(m_loadId, 0) != 0) m_loadStop.request_stop();
    m_info = {};
    const quint64 generationId = std::exchange(m_generationId, 0);
    if (generationId == 0) return;
    emit cancelRequested(generationId, {});
    emit chatAbandoned();
}

void EngineClient::takeLoadProgress(const LoadProgress& progress) {
    if (progress.loadId == m_loadId) emit loadProgressed(progress.fraction);
}

void EngineClient::takeLoadOutcome(const LoadOutcome& outcome) {
    if (outcome.loadId != m_loadId) return;
    m_loadId = 0;
    if (outcome.info) {
        m_info = *outcome.info;
        setState(EngineState::Ready);
        emit loaded();
    } else {
        setState(EngineState::Failed);
        emit loadFailed(outcome.info.error());
    }
}

void EngineClient::takeChatEvents(const ChatEvents& events) {
    for (const ChatEvent& event : events) {
        if (event.generation_id == m_generationId) takeChatEvent(event);
    }
}

void EngineClient::takeChatEvent(const ChatEvent& event) {
    const bool isText = std::holds_alternative<ChatText>(event.what);
    const bool isEnd =
        std::holds_alternative<ChatFinished>(event.what) || std::holds_alternative<ChatFailed>(event.what);
    if (isText && m_state == EngineState::Prefilling) setState(EngineState::Decoding);
    if (isEnd) {
        m_generationId = 0;
        setState(EngineState::Ready);
    }
    emit chatEvent(event);
}

void EngineClient::setState(EngineState::Value state) {
    if (m_state == state) return;
    m_state = state;
    emit stateChanged();
}

}  // namespace glmchat
