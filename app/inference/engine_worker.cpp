#include "app/inference/engine_worker.h"

#include <algorithm>
#include <utility>

namespace glmchat {

EngineWorker::EngineWorker(std::unique_ptr<InferenceEngine> engine)
    : m_engine(std::move(engine)), m_deliveryTimer(this) {
    m_deliveryTimer.setSingleShot(true);
    m_deliveryTimer.setTimerType(Qt::PreciseTimer);
    connect(&m_deliveryTimer, &QTimer::timeout, this, &EngineWorker::deliver);
}

EngineWorker::~EngineWorker() {
    // Running answers send their end events into this object.
    m_engine->unload();
}

void EngineWorker::load(const LoadRequest& request) {
    QElapsedTimer sinceReport;
    const auto report = [&](float fraction) {
        if (sinceReport.isValid() && sinceReport.elapsed() < kFrameMs) return;
        sinceReport.start();
        emit loadProgressed({request.loadId, fraction});
    };
    emit loadEnded({request.loadId, m_engine->load(request.options, report, request.stop)});
}

void EngineWorker::unload() {
    m_engine->unload();
}

void EngineWorker::chat(const ChatRequest& request) {
    const auto started = m_engine->chat(request, [this](const ChatEvent& event) { takeEvent(event); });
    if (!started) takeEvent({request.generation_id, ChatFailed{started.error()}});
}

void EngineWorker::cancel(quint64 generationId) {
    m_engine->cancel(generationId);
}

void EngineWorker::takeEvent(const ChatEvent& event) {
    if (!m_buffer.push(event)) return;
    QMetaObject::invokeMethod(this, &EngineWorker::scheduleDelivery, Qt::QueuedConnection);
}

void EngineWorker::scheduleDelivery() {
    if (m_deliveryTimer.isActive()) return;
    const qint64 waited = m_sinceDelivery.isValid() ? m_sinceDelivery.elapsed() : kFrameMs;
    if (waited >= kFrameMs) {
        deliver();
    } else {
        m_deliveryTimer.start(static_cast<int>(kFrameMs - waited));
    }
}

void EngineWorker::deliver() {
    m_sinceDelivery.start();
    ChatEvents events = m_buffer.take();
    if (!events.empty()) emit chatAdvanced(events);
}

}  // namespace glmchat
