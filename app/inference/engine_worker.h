#pragma once

#include <QElapsedTimer>
#include <QMetaType>
#include <QObject>
#include <QTimer>
#include <memory>
#include <stop_token>
#include <vector>

#include "app/inference/chat_event_buffer.h"
#include "app/inference/inference_engine.h"

namespace glmchat {

// The values that cross between the GUI thread and the engine thread.

struct LoadRequest {
    quint64 loadId = 0;
    ChatEngineOptions options;
    std::stop_token stop;  ///< reaches a load that keeps the engine thread busy
};
struct LoadProgress {
    quint64 loadId = 0;
    float fraction = 0;
};
struct LoadOutcome {
    quint64 loadId = 0;
    Result<ChatEngineInfo> info;
};
using ChatEvents = std::vector<ChatEvent>;  ///< of one frame, in order

/// Lives on the engine thread and drives an InferenceEngine there. Answers a signal with signals;
/// EngineClient lists them all. Events are delivered at frame rate, whatever the rate of tokens.
class EngineWorker : public QObject {
    Q_OBJECT

  public:
    static constexpr int kFrameMs = 33;

    explicit EngineWorker(std::unique_ptr<InferenceEngine> engine);
    ~EngineWorker() override;

  public slots:
    void load(const glmchat::LoadRequest& request);
    void unload();
    void chat(const glmchat::ChatRequest& request);
    void cancel(quint64 generationId);

  signals:
    void loadProgressed(const glmchat::LoadProgress& progress);
    void loadEnded(const glmchat::LoadOutcome& outcome);
    void chatAdvanced(const glmchat::ChatEvents& events);

  private:
    void takeEvent(const ChatEvent& event);  ///< any thread
    void scheduleDelivery();
    void deliver();

    const std::unique_ptr<InferenceEngine> m_engine;
    ChatEventBuffer m_buffer;
    QTimer m_deliveryTimer;
    QElapsedTimer m_sinceDelivery;
};

}  // namespace glmchat

Q_DECLARE_METATYPE(glmchat::LoadRequest)
Q_DECLARE_METATYPE(glmchat::LoadProgress)
Q_DECLARE_METATYPE(glmchat::LoadOutcome)
Q_DECLARE_METATYPE(glmchat::ChatRequest)
Q_DECLARE_METATYPE(glmchat::ChatEvents)
