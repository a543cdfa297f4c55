#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "engine/chat/device.h"
#include "engine/generate/scheduler.h"
#include "engine/model/language_model.h"
#include "engine/prompt/chat_format.h"
#include "engine/sampling/sampler.h"
#include "engine/status.h"
#include "engine/tokenizer/tokenizer.h"

namespace glmchat {

struct ChatEngineOptions {
    std::filesystem::path model_folder;
    std::filesystem::path prefix_folder;  ///< optional P-Tuning checkpoint over the base model
    Device device = Device::kAuto;
    Precision precision = Precision::kAuto;
    std::int32_t num_threads = 0;   ///< 0 = physical cores
    std::int32_t context_size = 0;  ///< 0 = min(8192, seq_length)
    std::size_t kv_cache_bytes = 0;
};

struct ChatEngineInfo {
    std::string model_name;   ///< folder name
    std::string device_name;  ///< "CPU, AVX-512, 2 threads"
    std::string device_note;  ///< why this device when it is not the one one would expect ("no NVIDIA driver
                              ///< found"); else ""
    Precision precision = Precision::kAuto;
    std::int32_t context_size = 0;
    std::size_t weight_bytes = 0;
    std::size_t kv_cache_bytes = 0;
};

struct ChatRequest {
    std::uint64_t generation_id = 0;
    std::vector<ChatMessage>
        messages;  ///< ends with the user's; a leading kSystem message is the system prompt
    SamplingParams sampling;
    std::optional<std::uint64_t> seed;  ///< none: drawn afresh, reported in ChatStarted
    std::int32_t max_new_tokens = 2048;
    std::vector<std::string> stop_strings;
    bool reuse_prefix = true;
};

struct ChatStarted {
    std::vector<std::int32_t> prompt_ids;  ///< keep with the answer for ChatMessage::prompt_ids
    std::int32_t num_dropped_rounds = 0;
    std::uint64_t seed = 0;
};
struct ChatText {
    std::string text;                 ///< UTF-8, whole characters
    std::int32_t num_new_tokens = 0;  ///< so far
};
struct ChatFinished {
    FinishReason reason = FinishReason::kStopToken;
    std::string
        full_text;  ///< the whole answer after process_response; the streamed text is its untrimmed source
    std::vector<std::int32_t> answer_ids;
    GenerationStats stats;
};
struct ChatFailed {
    Status status;
};

/// Streamed events of one answer, in order: ChatStarted, PrefillProgress*, ChatText*, then ChatFinished or
/// ChatFailed.
struct ChatEvent {
    std::uint64_t generation_id = 0;
    std::variant<ChatStarted, PrefillProgress, ChatText, ChatFinished, ChatFailed> what;
};

/// A loaded model one can talk to: tokenizer, prompt format and scheduler together. Standard C++, no Qt; the
/// window's engine thread and glmchat-cli both use it.
class ChatEngine {
  public:
    /// Loads a folder. Runs on the calling thread; `on_progress` (0..1) is called on it; `stop` cancels with
    /// kCancelled.
    static Result<std::unique_ptr<ChatEngine>> load(const ChatEngineOptions& options,
                                                    const std::function<void(float)>& on_progress = {},
                                                    std::stop_token stop = {});
    virtual ~ChatEngine() = default;

    virtual const ChatEngineInfo& info() const = 0;
    virtual const Tokenizer& tokenizer() const = 0;
    virtual const ChatFormat& format() const = 0;
    virtual Scheduler& scheduler() = 0;

    /// Starts an answer; events come on the scheduler's thread. Errors at once: kInvalidArgument,
    /// kContextFull, kBusy.
    virtual Result<void> chat(ChatRequest request, std::function<void(const ChatEvent&)> on_event) = 0;
    virtual void cancel(std::uint64_t generation_id) = 0;
    virtual void cancel_all() = 0;
};

}  // namespace glmchat
