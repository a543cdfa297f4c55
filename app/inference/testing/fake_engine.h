#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/inference/inference_engine.h"

namespace glmchat {

/// What the next load does.
struct FakeLoad {
    std::chrono::milliseconds duration{0};
    bool hearsStop = true;  ///< false: goes on after a cancel, as a load that hangs in a file would
    std::optional<Status> failure;
    ChatEngineInfo info;
};

/// What the next answer does.
struct FakeAnswer {
    std::vector<std::string> tokens;  ///< text of each token
    double tokensPerSecond = 0;       ///< 0 = as fast as possible
    std::chrono::milliseconds prefillTime{0};
    std::int32_t numPromptTokens = 10;
    std::int32_t numDroppedRounds = 0;
    FinishReason reason = FinishReason::kStopToken;
    std::optional<Status> failure;  ///< instead of finishing
    std::optional<Status> refusal;  ///< chat() returns it, no events
    int numLateTokens = 0;          ///< sent after the end, as a broken engine would
};

/// Shared by a test and the engine it gave away. Any thread.
class FakeScript {
  public:
    FakeScript();  ///< loads at once; answers "你好！" in two tokens

    void setLoad(FakeLoad load);
    void setAnswer(FakeAnswer answer);
    FakeLoad load() const;
    FakeAnswer answer() const;

    void record(const ChatRequest& request);
    std::vector<ChatRequest> requests() const;  ///< all chat() calls so far

  private:
    mutable std::mutex m_mutex;
    FakeLoad m_load;
    FakeAnswer m_answer;
    std::vector<ChatRequest> m_requests;
};

/// Splits into one piece per character: the finest stream there is.
std::vector<std::string> oneTokenPerCharacter(const std::string& text);

/// Plays a FakeScript. Every answer runs on a thread of its own and is cancelled between tokens.
class FakeEngine final : public InferenceEngine {
  public:
    explicit FakeEngine(std::shared_ptr<FakeScript> script) : m_script(std::move(script)) {}
    ~FakeEngine() override { unload(); }

    Result<ChatEngineInfo> load(const ChatEngineOptions& options,
                                const std::function<void(float)>& onProgress, std::stop_token stop) override;
    void unload() override;
    Result<void> chat(ChatRequest request, std::function<void(const ChatEvent&)> onEvent) override;
    void cancel(std::uint64_t generationId) override;

  private:
    struct Running {
        std::uint64_t generationId = 0;
        std::jthread thread;
    };

    const std::shared_ptr<FakeScript> m_script;
    std::vector<Running> m_running;
};

}  // namespace glmchat
