#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/generate/scheduler.h"
#include "engine/generate/stop_strings.h"

namespace glmchat {

/// Refuses a request that could never be answered. Errors: kInvalidArgument, kContextFull.
Result<void> validate(const GenerationRequest& request, const ModelConfig& config, std::int32_t context_size);

/// One request while it waits or runs: its ids, its place in the KV cache, its text and the events it sends.
/// Thread: the one that steps; only id() and stop_source() may be used by others.
class Generation {
  public:
    Generation(GenerationRequest request, std::int32_t context_size);

    std::uint64_t id() const { return request_.generation_id; }
    std::stop_source& stop_source() { return stop_; }
    bool is_cancelled() const { return stop_.stop_requested(); }
    bool wants_no_tokens() const { return request_.max_new_tokens == 0; }

    // --- computing ---

    /// Takes a place in the cache with what it holds of the prompt. @return false when there is no room for
    /// the rest now
    Result<bool> admit(KvCache& cache);
    /// Gives its place up; a later admit() goes on where it was. What is lost is computed again.
    void preempt() { kv_.close(); }
    KvSequence& kv() { return kv_; }
    std::span<const std::int32_t> ids() const { return ids_; }  ///< prompt and answer so far
    std::int32_t num_pending() const { return static_cast<std::int32_t>(ids_.size()) - kv_.num_tokens(); }
    /// The next `count` ids are in the cache now. Reports progress while the prompt is computed.
    void committed(std::int32_t count);
    /// Draws the next token. @return why the answer ends with it, or nothing. Errors: kBadLogits.
    Result<std::optional<FinishReason>> take_logits(std::span<const float> logits);

    // --- the end: exactly one of these, once ---

    void finish(FinishReason reason);
    void fail(Status status);

    /// What the receiver of the events threw, if it did. Such a generation is to be failed.
    const std::optional<Status>& receiver_error() const { return receiver_error_; }

  private:
    using Clock = std::chrono::steady_clock;

    std::span<const std::int32_t> prompt_ids() const { return std::span(ids_).first(num_prompt_tokens_); }
    std::span<const std::int32_t> new_ids() const { return std::span(ids_).subspan(num_prompt_tokens_); }
    std::optional<FinishReason> append(SampledToken token);
    GenerationStats stats() const;
    template <typename What>
    void send(What&& what);

    GenerationRequest request_;  // its prompt_ids moved to ids_
    const std::int32_t context_size_;
    const std::size_t num_prompt_tokens_;
    std::vector<std::int32_t> ids_;
    KvSequence kv_;
    StopStrings stop_strings_;
    std::stop_source stop_;
    std::optional<Status> receiver_error_;

    std::int32_t num_reused_tokens_ = 0;
    std::int32_t num_prompt_done_ = 0;  // most prompt tokens that were ever in the cache
    const Clock::time_point submitted_ = Clock::now();
    std::optional<Clock::time_point> admitted_;
    std::optional<Clock::time_point> first_token_;
    Clock::time_point last_token_;
};

}  // namespace glmchat
