#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/status.h"

namespace glmchat {

/// Official chat() defaults of ChatGLM2 are temperature 0.8, top_p 0.8; top_k 50 is active there through the library's default.
struct SamplingParams {
    float temperature = 0.8F;  ///< 0 = greedy
    float top_p = 0.8F;        ///< 1 = off; 0 keeps one token
    std::int32_t top_k = 50;   ///< 0 = off
    float min_p = 0.0F;        ///< 0 = off
    float repetition_penalty = 1.0F;
    float presence_penalty = 0.0F;
    float frequency_penalty = 0.0F;
    std::uint64_t seed = 0;
};

/// Refuses NaN, infinities and values out of range, naming the value.
Result<void> validate(const SamplingParams& params);

struct TokenCandidate {
    std::int32_t token_id = 0;
    float logit = 0;        ///< raw, before any option
    float probability = 0;  ///< after all options; candidates that were cut have 0
};

/// Everything one step decided, for the caller and the inspector.
struct SampledToken {
    std::int32_t token_id = 0;
    float uniform = 0;         ///< the random number in [0, 1) that chose it; 0 when greedy
    std::int32_t rank = 0;     ///< 0 = most probable
    float logprob = 0;         ///< natural log, of the raw distribution
    std::vector<TokenCandidate> candidates;  ///< most probable first, as many as asked for
};

/// The distribution left after penalties -> temperature -> top-k -> top-p -> min-p, most probable first (ties: lower id
/// first). @param logits [vocab], @param history prompt + generated ids. Errors: kBadLogits on any NaN or Inf.
Result<std::vector<TokenCandidate>> sampling_distribution(std::span<const float> logits, const SamplingParams& params,
                                                          std::span<const std::int32_t> history);

/// Draws the token of step `step` (0, 1, … of one answer). The random number depends on seed and step alone, so equal logits
/// give equal tokens on every backend, in every batch.
Result<SampledToken> sample_token(std::span<const float> logits, const SamplingParams& params,
                                  std::span<const std::int32_t> history, std::uint64_t step,
                                  std::int32_t num_candidates = 0);

}  // namespace glmchat
