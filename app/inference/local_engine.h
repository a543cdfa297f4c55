#pragma once

#include "app/inference/inference_engine.h"

namespace glmchat {

/// Our own engine. Running out of memory comes back as a Status.
class LocalEngine final : public InferenceEngine {
  public:
    Result<ChatEngineInfo> load(const ChatEngineOptions& options,
                                const std::function<void(float)>& onProgress, std::stop_token stop) override;
    void unload() override;
    Result<void> chat(ChatRequest request, std::function<void(const ChatEvent&)> onEvent) override;
    void cancel(std::uint64_t generationId) override;

  private:
    std::unique_ptr<ChatEngine> m_engine;
};

}  // namespace glmchat
