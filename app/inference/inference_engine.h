#pragma once

#include <functional>
#include <stop_token>

#include "engine/chat/chat_engine.h"

namespace glmchat {

/// Whatever makes answers: our engine, a scripted one, later a server. Values in, values out.
/// Thread: all calls come from one thread, the engine thread.
class InferenceEngine {
  public:
    virtual ~InferenceEngine() = default;

    /// Blocks until the model is loaded; `onProgress` (0..1) is called on the calling thread. What was loaded
    /// before is given up first. Errors: as ChatEngine::load; kCancelled after `stop`.
    virtual Result<ChatEngineInfo> load(const ChatEngineOptions& options,
                                        const std::function<void(float)>& onProgress,
                                        std::stop_token stop) = 0;
    /// Ends running answers (each gets its end event before this returns) and frees the model.
    virtual void unload() = 0;

    /// Starts an answer and returns. `onEvent` may be called on any one thread; the last event is
    /// ChatFinished or ChatFailed. Errors at once, without events.
    virtual Result<void> chat(ChatRequest request, std::function<void(const ChatEvent&)> onEvent) = 0;
    /// The answer ends soon with ChatFinished{kCancelled}. Unknown ids are ignored.
    virtual void cancel(std::uint64_t generationId) = 0;
};

}  // namespace glmchat
