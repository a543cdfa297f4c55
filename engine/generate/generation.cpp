#include "engine/generate/generation.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>

namespace glmchat {
namespace {

Result<void> invalid(std::string message) {
    return failure(StatusKind::kInvalidArgument, std::move(message));
}

/// A continuation byte would make the hold-back cut inside a character.
bool begins_inside_a_character(std::string_view text) {
    return (static_cast<unsigned char>(text.front()) & 0xC0u) == 0x80u;
}

}  // namespace

Result<void> validate(const GenerationRequest& request, const ModelConfig& config,
                      std::int32_t context_size) {
    if (!request.on_event) return invalid("A generation request has no receiver for its events.");
    if (request.prompt_ids.empty()) return invalid("The prompt is empty; write something first.");
    for (const std::int32_t id : request.prompt_ids) {
        if (id >= 0 && id < config.padded_vocab_size) continue;
        return invalid(fmt::format("Prompt id {} is outside the model's vocabulary of {} tokens.", id,
                                   config.padded_vocab_size));
    }
    if (request.prompt_ids.size() >= static_cast<std::size_t>(context_size)) {
        return failure(
            StatusKind::kContextFull,
            fmt::format("The prompt of {} tokens leaves no room for an answer in a context of {} tokens; "
                        "shorten it or choose a larger context.",
                        request.prompt_ids.size(), context_size));
    }
    if (request.max_new_tokens < 0) {
        return invalid(fmt::format("max_new_tokens is {}; it must be 0 or more.", request.max_new_tokens));
    }
    if (request.num_candidates < 0) {
        return invalid(fmt::format("num_candidates is {}; it must be 0 or more.", request.num_candidates));
    }
    if (!request.stop_strings.empty() && !request.decoder) {
        return invalid("Stop strings are matched on text, but the request has no text decoder.");
    }
    for (const std::string& stop_string : request.stop_strings) {
        if (stop_string.empty()) return invalid("A stop string is empty; leave it out.");
        if (begins_inside_a_character(stop_string)) return invalid("A stop string is not valid UTF-8.");
    }
    return validate(request.sampling);
}

Generation::Generation(GenerationRequest request, std::int32_t context_size)
    : request_(std::move(request)),
      context_size_(context_size),
      num_prompt_tokens_(request_.prompt_ids.size()),
      ids_(std::move(request_.prompt_ids)),
      stop_strings_(request_.stop_strings) {}

Result<bool> Generation::admit(KvCache& cache) {
    kv_ = cache.open(ids_, request_.reuse_prefix);
    const std::int32_t num_found = kv_.num_tokens();
    Result<bool> has_room = kv_.reserve(static_cast<std::int32_t>(ids_.size()));
    if (!has_room || !*has_room) {
        kv_.close();
        return has_room;
    }
    if (!admitted_) {
        admitted_ = Clock::now();
        num_reused_tokens_ = num_prompt_done_ = num_found;
    }
    return true;
}

void Generation::committed(std::int32_t count) {
    const auto first = static_cast<std::size_t>(kv_.num_tokens());
    kv_.commit(std::span(ids_).subspan(first, static_cast<std::size_t>(count)));
    const auto num_prompt = static_cast<std::int32_t>(num_prompt_tokens_);
    const std::int32_t num_done = std::min(kv_.num_tokens(), num_prompt);
    if (num_done <= num_prompt_done_) return;  // decoding, or computing again after a preemption
    num_prompt_done_ = num_done;
    send(PrefillProgress{num_done, num_prompt});
}

Result<std::optional<FinishReason>> Generation::take_logits(std::span<const float> logits) {
    const auto step = static_cast<std::uint64_t>(new_ids().size());
    Result<SampledToken> token =
        sample_token(logits, request_.sampling, {prompt_ids(), new_ids()}, step, request_.num_candidates);
    if (!token) return tl::unexpected(token.error());
    last_token_ = Clock::now();
    if (!first_token_) first_token_ = last_token_;
    return append(std::move(*token));
}

std::optional<FinishReason> Generation::append(SampledToken token) {
    const std::int32_t id = token.token_id;
    if (std::ranges::find(request_.stop_token_ids, id) != request_.stop_token_ids.end()) {
        return FinishReason::kStopToken;
    }
    ids_.push_back(id);
    std::string text;
    if (request_.decoder) text = stop_strings_.push(request_.decoder->push(id));
    send(TokenEvent{std::move(token), std::move(text)});

    if (stop_strings_.found()) return FinishReason::kStopString;
    if (new_ids().size() >= static_cast<std::size_t>(request_.max_new_tokens))
        return FinishReason::kMaxNewTokens;
    if (ids_.size() >= static_cast<std::size_t>(context_size_)) return FinishReason::kContextFull;
    return std::nullopt;
}

void Generation::finish(FinishReason reason) {
    FinishedEvent event;
    if (request_.decoder && !stop_strings_.found()) {
        event.text = stop_strings_.push(request_.decoder->finish()) + stop_strings_.finish();
        if (stop_strings_.found() && reason != FinishReason::kCancelled) reason = FinishReason::kStopString;
    }
    event.reason = reason;
    event.new_ids.assign(new_ids().begin(), new_ids().end());
    event.stats = stats();
    send(std::move(event));
}

void Generation::fail(Status status) {
    send(FailedEvent{std::move(status), {new_ids().begin(), new_ids().end()}});
}

GenerationStats Generation::stats() const {
    GenerationStats stats;
    stats.num_prompt_tokens = static_cast<std::int32_t>(num_prompt_tokens_);
    stats.num_reused_tokens = num_reused_tokens_;
    stats.num_prefill_tokens = num_prompt_done_ - num_reused_tokens_;
    stats.num_new_tokens = static_cast<std::int32_t>(new_ids().size());
    const Clock::time_point now = Clock::now();
    stats.queue_time = admitted_.value_or(now) - submitted_;
    if (admitted_) stats.prefill_time = first_token_.value_or(now) - *admitted_;
    if (first_token_) stats.decode_time = last_token_ - *first_token_;
    return stats;
}

template <typename What>
void Generation::send(What&& what) {
    try {
        request_.on_event(GenerationEvent{id(), std::forward<What>(what)});
    } catch (const std::exception& error) {
        receiver_error_ = {StatusKind::kInternal, "The answer could not be delivered and was ended.",
                           error.what()};
    } catch (...) {
        receiver_error_ = {StatusKind::kInternal, "The answer could not be delivered and was ended.", {}};
    }
}

}  // namespace glmchat
