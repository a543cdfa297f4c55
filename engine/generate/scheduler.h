#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/generate/text_decoder.h"
#include "engine/model/language_model.h"
#include "engine/sampling/sampler.h"
#include "engine/status.h"

namespace glmchat {

enum class FinishReason : std::uint8_t { kStopToken, kStopString, kMaxNewTokens, kContextFull, kCancelled };
std::string_view finish_reason_name(FinishReason reason);  ///< as in the JSON of glmchat-cli: "stop_token", …

/// Numbers of one finished answer. Durations are wall-clock.
struct GenerationStats {
    std::int32_t num_prompt_tokens = 0;
    std::int32_t num_reused_tokens = 0;   ///< of the prompt, taken from the KV cache
    std::int32_t num_prefill_tokens = 0;  ///< of the prompt, computed
    std::int32_t num_new_tokens = 0;
    std::chrono::nanoseconds queue_time{};
    std::chrono::nanoseconds prefill_time{};  ///< first computation to first token
    std::chrono::nanoseconds decode_time{};   ///< first token to last
};

struct PrefillProgress {
    std::int32_t num_done = 0;  ///< prompt tokens in the cache, reused ones included
    std::int32_t num_total = 0;
};
struct TokenEvent {
    SampledToken token;
    std::string text;  ///< UTF-8 that became final with this token, after stop-string hold-back; often ""
};
struct FinishedEvent {
    FinishReason reason = FinishReason::kStopToken;
    std::string text;  ///< rest of the text that was still held back
    std::vector<std::int32_t> new_ids;  ///< all sampled ids, without the stop token that ended it
    GenerationStats stats;
};
struct FailedEvent {
    Status status;
    std::vector<std::int32_t> new_ids;  ///< what was generated before the failure
};

struct GenerationEvent {
    std::uint64_t generation_id = 0;
    std::variant<PrefillProgress, TokenEvent, FinishedEvent, FailedEvent> what;
};

/// One answer to be made.
struct GenerationRequest {
    std::uint64_t generation_id = 0;  ///< chosen by the caller, unique among running requests
    std::vector<std::int32_t> prompt_ids;
    SamplingParams sampling;
    std::int32_t max_new_tokens = 2048;         ///< counts the answer only
    std::vector<std::int32_t> stop_token_ids;   ///< empty: only length ends it
    std::vector<std::string> stop_strings;      ///< matched on text; need a decoder
    std::unique_ptr<TextDecoder> decoder;       ///< null: TokenEvent::text stays empty
    std::int32_t num_candidates = 0;            ///< candidates reported per token
    bool reuse_prefix = true;
    /// Called on the scheduler's thread, in order, with no lock held; must return quickly and not call back into the
    /// scheduler. Exactly one FinishedEvent or FailedEvent ends the stream; its generation_id may then be used again.
    /// A receiver that throws ends its own request with a FailedEvent.
    std::function<void(const GenerationEvent&)> on_event;
};

struct SchedulerOptions {
    /// Tokens per sequence (prompt + answer), at most config.seq_length; 0 = seq_length, 8192, or what kv_cache_bytes
    /// holds, whichever is least.
    std::int32_t context_size = 0;
    /// Budget for all sequences, at least one full context; 0 = one full context plus half again. Allocated at once.
    std::size_t kv_cache_bytes = 0;
    std::int32_t block_size = 16;         ///< slots per KV block
    std::int32_t prefill_chunk_tokens = 256;  ///< prompt tokens per step, of all sequences together
    /// The same while an answer is being written: the time between two of its tokens must not grow to that of a chunk.
    std::int32_t prefill_tokens_beside_decode = 64;
    std::int32_t max_running = 8;
    std::int32_t max_queued = 64;
};

struct SchedulerInfo {
    std::int32_t context_size = 0;
    std::size_t kv_cache_bytes = 0;       ///< allocated
    std::size_t kv_bytes_per_token = 0;
    std::int32_t num_running = 0;
    std::int32_t num_queued = 0;
    std::int64_t num_cached_tokens = 0;   ///< in blocks that could be reused now
};

/// Owns the model, the paged KV cache and all running sequences; runs them in ragged batches (chunked prefill beside
/// decode, fair among sequences). Longest-common-prefix reuse between rounds, siblings and conversations.
///
/// When the running sequences need more KV blocks than there are, the youngest gives its place up, waits at the head of the
/// queue and is computed again when there is room: nobody fails for it and the oldest always goes on.
///
/// A forward pass that fails is repeated for each of its sequences alone, so that only those fail (FailedEvent) which
/// cannot be computed. NaN or Inf in a sequence's scores fails that sequence and empties the prefix cache, whose contents
/// may be the cause.
/// Two ways to drive it: step() by hand (tests, command line), or start() a thread of its own. All other functions may be
/// called from any thread.
class Scheduler {
  public:
    /// Allocates the KV cache: float32 for an fp32 model, else float16.
    /// Errors: kInvalidArgument (an option, named), kOutOfMemory, kDeviceFailure.
    static Result<std::unique_ptr<Scheduler>> create(std::unique_ptr<LanguageModel> model, const SchedulerOptions& options);
    /// Joins the thread and cancels what runs or waits; each request gets its end event, on the calling thread.
    virtual ~Scheduler() = default;

    virtual const ModelConfig& config() const = 0;
    virtual LanguageModel& model() = 0;  ///< only while nothing runs (logits, inspection)
    virtual SchedulerInfo info() const = 0;

    /// Queues a request. Errors (nothing is queued, no event is sent): kInvalidArgument, kContextFull, kBusy.
    virtual Result<void> submit(GenerationRequest request) = 0;
    /// Ends a request between layers, chunks or tokens: it gets FinishedEvent{kCancelled}. Unknown ids are ignored.
    /// A forward pass is broken off between layers when at least half of its rows are cancelled; else the others would
    /// lose more by it than they gain.
    virtual void cancel(std::uint64_t generation_id) = 0;
    virtual void cancel_all() = 0;

    /// One ragged batch. @return false when there was nothing to do.
    virtual bool step() = 0;
    virtual void start() = 0;  ///< runs step() on an own thread, asleep when idle
    virtual void stop() = 0;   ///< ends that thread; running requests stay queued for a later start() or step()

    /// Forgets all kept prefixes (for measurements). At once, or before the next step.
    virtual void clear_cache() = 0;
    virtual void set_num_threads(std::int32_t num_threads) = 0;  ///< of the backend, from the next step on
};

}  // namespace glmchat
