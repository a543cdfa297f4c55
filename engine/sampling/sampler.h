#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/status.h"

namespace glmchat {

/// Official chat() defaults of ChatGLM2 are temperature 0.8, top_p 0.8; top_k 50 is active there through the
/// library's default.
struct SamplingParams {
    float temperature = 0.8F;  ///< 0 = greedy
    float top_p = 0.8F;        ///< 1 = off; 0 keeps one token
    std::int32_t top_k = 50;   ///< 0 = off
    float min_p = 0.0F;        ///< 0 = off
    float repetition_penalty =
        1.0F;  ///< of every distinct id of prompt and answer: logit < 0 ? logit * p : logit / p
    float presence_penalty = 0.0F;   ///< subtracted from every id the answer holds
    float frequency_penalty = 0.0F;  ///< subtracted once per occurrence in the answer
    std::uint64_t seed = 0;
};

/// A temperature up to this is greedy: the most probable token after the penalties (ties: lower id).
inline constexpr float kGreedyTemperature = 1e-5F;

/// Refuses NaN, infinities and values out of range, naming the value (kInvalidArgument).
Result<void> validate(const SamplingParams& params);

/// The ids that the penalties look at. Ids outside the vocabulary are passed over.
struct TokenHistory {
    std::span<const std::int32_t> prompt_ids;
    std::span<const std::int32_t> new_ids;  ///< the answer so far
};

struct TokenCandidate {
    std::int32_t token_id = 0;
    float logit = 0;        ///< raw, before any option
    float probability = 0;  ///< after all options; candidates that were cut have 0
};

/// Everything one step decided, for the caller and the inspector.
struct SampledToken {
    std::int32_t token_id = 0;
    float uniform = 0;                       ///< the random number in [0, 1) that chose it; 0 when greedy
    std::int32_t rank = 0;                   ///< 0 = most probable
    float logprob = 0;                       ///< natural log, of the raw distribution
    std::vector<TokenCandidate> candidates;  ///< most probable first, as many as asked for
};

/// The distribution left after penalties -> temperature -> top-k -> top-p -> min-p, most probable first
/// (ties: lower id first). Rules, with scores in float32 and probabilities in float64:
/// - top-k keeps everything that ties with the k-th largest score;
/// - top-p drops, from the least probable up, while the sum of the dropped is <= 1 - top_p; one token always
/// stays;
/// - min-p drops what is less probable than min_p times the most probable.
/// @param logits [vocab], not empty; `params` valid. Errors: kBadLogits on any NaN or Inf, also when a
/// penalty made it.
Result<std::vector<TokenCandidate>> sampling_distribution(std::span<const float> logits,
                                                          const SamplingParams& params,
                                                          const TokenHistory& history);

/// Draws the token of step `step` (0, 1, … of one answer). The random number depends on seed and step alone,
/// so equal logits give equal tokens on every backend, in every batch. @param num_candidates  length of
/// SampledToken::candidates
Result<SampledToken> sample_token(std::span<const float> logits, const SamplingParams& params,
                                  const TokenHistory& history, std::uint64_t step,
                                  std::int32_t num_candidates = 0);

}  // namespace glmchat
