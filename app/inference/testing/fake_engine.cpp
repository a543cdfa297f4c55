#include "app/inference/testing/fake_engine.h"

#include <algorithm>
#include <condition_variable>
#include <utility>

namespace glmchat {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kProgressSteps = 20;

/// @return false when `stop` came first
bool sleepUntil(Clock::time_point time, std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any condition;
    std::unique_lock lock(mutex);
    condition.wait_until(lock, stop, time, [] { return false; });
    return !stop.stop_requested();
}

/// One answer, on its own thread.
class Performance {
  public:
    Performance(FakeAnswer answer, ChatRequest request, std::function<void(const ChatEvent&)> onEvent,
                std::stop_token stop)
        : m_answer(std::move(answer)),
          m_request(std::move(request)),
          m_onEvent(std::move(onEvent)),
          m_stop(std::move(stop)) {}

    void run() {
        send(ChatStarted{std::vector<std::int32_t>(static_cast<std::size_t>(m_answer.numPromptTokens), 1),
                         m_answer.numDroppedRounds, m_request.seed.value_or(4711)});
        const bool completed = prefill() && decode();
        if (completed && m_answer.failure) {
            send(ChatFailed{*m_answer.failure});
        } else {
            send(finished(completed ? m_answer.reason : FinishReason::kCancelled));
        }
        for (int i = 0; i < m_answer.numLateTokens; ++i) send(ChatText{"late", m_numSent + i});
    }

  private:
    bool prefill() {
        send(PrefillProgress{0, m_answer.numPromptTokens});
        const bool goesOn = sleepUntil(m_start + m_answer.prefillTime, m_stop);
        if (goesOn) send(PrefillProgress{m_answer.numPromptTokens, m_answer.numPromptTokens});
        return goesOn;
    }

    bool decode() {
        m_firstToken = Clock::now();
        for (const std::string& token : m_answer.tokens) {
            if (m_stop.stop_requested()) return false;
            if (m_answer.tokensPerSecond > 0) {
                const std::chrono::duration<double> due(m_numSent / m_answer.tokensPerSecond);
                const auto time = m_firstToken + std::chrono::duration_cast<Clock::duration>(due);
                if (!sleepUntil(time, m_stop)) return false;
            }
            m_text += token;
            send(ChatText{token, ++m_numSent});
        }
        return true;
    }

    ChatFinished finished(FinishReason reason) const {
        ChatFinished end;
        end.reason = reason;
        end.full_text = m_text;
        end.answer_ids.assign(static_cast<std::size_t>(m_numSent), 2);
        end.stats.num_prompt_tokens = end.stats.num_prefill_tokens = m_answer.numPromptTokens;
        end.stats.num_new_tokens = m_numSent;
        end.stats.prefill_time = m_answer.prefillTime;
        end.stats.decode_time = Clock::now() - m_firstToken;
        return end;
    }

    template <typename What>
    void send(What what) {
        m_onEvent({m_request.generation_id, std::move(what)});
    }

    const FakeAnswer m_answer;
    const ChatRequest m_request;
    const std::function<void(const ChatEvent&)> m_onEvent;
    const std::stop_token m_stop;
    const Clock::time_point m_start = Clock::now();
    Clock::time_point m_firstToken = m_start;
    std::string m_text;
    std::int32_t m_numSent = 0;
};

}  // namespace

FakeScript::FakeScript() {
    m_load.info.model_name = "fake-model";
    m_load.info.device_name = "fake device";
    m_load.info.precision = Precision::kInt4;
    m_load.info.context_size = 8192;
    m_answer.tokens = {"你好", "！"};
}

void FakeScript::setLoad(FakeLoad load) {
    const std::lock_guard lock(m_mutex);
    m_load = std::move(load);
}

void FakeScript::setAnswer(FakeAnswer answer) {
    const std::lock_guard lock(m_mutex);
    m_answer = std::move(answer);
}

FakeLoad FakeScript::load() const {
    const std::lock_guard lock(m_mutex);
    return m_load;
}

FakeAnswer FakeScript::answer() const {
    const std::lock_guard lock(m_mutex);
    return m_answer;
}

void FakeScript::record(const ChatRequest& request) {
    const std::lock_guard lock(m_mutex);
    m_requests.push_back(request);
}

std::vector<ChatRequest> FakeScript::requests() const {
    const std::lock_guard lock(m_mutex);
    return m_requests;
}

std::vector<std::string> oneTokenPerCharacter(const std::string& text) {
    std::vector<std::string> tokens;
    for (const char byte : text) {
        const bool continues = (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
        if (!continues) tokens.emplace_back();
        tokens.back() += byte;
    }
    return tokens;
}

Result<ChatEngineInfo> FakeEngine::load(const ChatEngineOptions& options,
                                        const std::function<void(float)>& onProgress, std::stop_token stop) {
    unload();
    FakeLoad load = m_script->load();
    const std::stop_token heard = load.hearsStop ? stop : std::stop_token();
    const auto start = Clock::now();
    for (int step = 0; step < kProgressSteps; ++step) {
        onProgress(static_cast<float>(step) / kProgressSteps);
        if (!sleepUntil(start + load.duration * (step + 1) / kProgressSteps, heard)) {
            return failure(StatusKind::kCancelled, "Loading was cancelled.");
        }
    }
    if (load.failure) return tl::unexpected(*load.failure);
    if (options.context_size > 0) load.info.context_size = options.context_size;
    return load.info;
}

void FakeEngine::unload() {
    m_running.clear();  // each thread is told to stop and waited for
}

Result<void> FakeEngine::chat(ChatRequest request, std::function<void(const ChatEvent&)> onEvent) {
    m_script->record(request);
    FakeAnswer answer = m_script->answer();
    if (answer.refusal) return tl::unexpected(*answer.refusal);
    const std::uint64_t generationId = request.generation_id;
    m_running.push_back({generationId, std::jthread([=, answer = std::move(answer)](std::stop_token stop) {
                             Performance(answer, request, onEvent, std::move(stop)).run();
                         })});
    return {};
}

void FakeEngine::cancel(std::uint64_t generationId) {
    for (Running& running : m_running) {
        if (running.generationId == generationId) running.thread.request_stop();
    }
}

}  // namespace glmchat
