#include "engine/sampling/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "engine/sampling/candidate_list.h"
#include "engine/sampling/counter_random.h"

namespace glmchat {
namespace {

constexpr float kMaxFloat = std::numeric_limits<float>::max();

bool is_greedy(const SamplingParams& params) {
    return params.temperature <= kGreedyTemperature;
}

void apply_repetition_penalty(std::span<float> scores, float penalty, const TokenHistory& history) {
    if (penalty == 1.0F) return;
    std::vector<bool> seen(scores.size());
    for (const std::span<const std::int32_t> ids : {history.prompt_ids, history.new_ids}) {
        for (const std::int32_t id : ids) {
            const auto index = static_cast<std::size_t>(id);  // a negative id becomes too large
            if (index >= scores.size() || seen[index]) continue;
            seen[index] = true;
            scores[index] = scores[index] < 0 ? scores[index] * penalty : scores[index] / penalty;
        }
    }
}

void apply_presence_and_frequency(std::span<float> scores, const SamplingParams& params,
                                  std::span<const std::int32_t> new_ids) {
    if (params.presence_penalty == 0 && params.frequency_penalty == 0) return;
    std::vector<std::int32_t> sorted(new_ids.begin(), new_ids.end());
    std::sort(sorted.begin(), sorted.end());
    for (auto first = sorted.begin(); first != sorted.end();) {
        const auto last = std::upper_bound(first, sorted.end(), *first);
        const auto index = static_cast<std::size_t>(*first);
        const auto count = static_cast<float>(last - first);
        if (index < scores.size())
            scores[index] -= params.presence_penalty + count * params.frequency_penalty;
        first = last;
    }
}

Result<void> check_finite(std::span<const float> scores) {
    const auto bad =
        std::find_if(scores.begin(), scores.end(), [](float score) { return !std::isfinite(score); });
    if (bad == scores.end()) return {};
    return failure(StatusKind::kBadLogits,
                   "The model computed scores that are not numbers, so no token can be drawn; try another "
                   "precision or device, or check the weight files.",
                   fmt::format("score {} of {} is {}", bad - scores.begin(), scores.size(), *bad));
}

/// Scores after penalties and temperature.
Result<std::vector<float>> option_scores(std::span<const float> logits, const SamplingParams& params,
                                         const TokenHistory& history) {
    std::vector<float> scores(logits.begin(), logits.end());
    apply_repetition_penalty(scores, params.repetition_penalty, history);
    apply_presence_and_frequency(scores, params, history.new_ids);
    if (const Result<void> finite = check_finite(scores); !finite) return tl::unexpected(finite.error());
    if (is_greedy(params) || params.temperature == 1.0F) return scores;
    // A low temperature can lift a finite score past float32; it then stays the largest finite one.
    for (float& score : scores) score = std::clamp(score / params.temperature, -kMaxFloat, kMaxFloat);
    return scores;
}

/// What is left to draw from: the first `num_kept` candidates, each with probability weight / kept_weight.
class Distribution {
  public:
    Distribution(std::span<const float> scores, const SamplingParams& params, std::int32_t num_shown)
        : candidates_(scores, num_needed(scores.size(), params, num_shown)),
          best_score_(candidates_.at(0).score) {
        num_kept_ = is_greedy(params) ? 1 : candidates_.size();
        if (num_kept_ > 1 && params.top_k > 0) keep_top_k(static_cast<std::size_t>(params.top_k));
        if (num_kept_ > 1 && params.top_p < 1) keep_top_p(params.top_p);
        if (num_kept_ > 1 && params.min_p > 0) keep_min_p(params.min_p);
        kept_weight_ = weight_of_kept();
    }

    std::size_t num_candidates() const { return candidates_.size(); }
    std::size_t num_kept() const { return num_kept_; }

    TokenCandidate candidate(std::size_t rank, std::span<const float> logits) {
        const std::int32_t id = candidates_.at(rank).token_id;
        const double probability = rank < num_kept_ ? weight(candidates_.at(rank)) / kept_weight_ : 0.0;
        return {id, logits[static_cast<std::size_t>(id)], static_cast<float>(probability)};
    }

    /// The rank at which the running probability passes `uniform`.
    std::size_t draw(float uniform) {
        double left = static_cast<double>(uniform) * kept_weight_;
        std::size_t rank = 0;
        while (rank + 1 < num_kept_) {
            left -= weight(candidates_.at(rank));
            if (left < 0) break;
            ++rank;
        }
        return rank;
    }

  private:
    /// How many of the best scores matter; all of them unless top-k or greedy says otherwise.
    static std::size_t num_needed(std::size_t vocab, const SamplingParams& params, std::int32_t num_shown) {
        const std::int32_t top = is_greedy(params) ? 1 : params.top_k;
        if (top == 0) return vocab;
        return std::min(vocab, static_cast<std::size_t>(std::max(top, num_shown)));
    }

    double weight(const CandidateList::Entry& entry) const {
        return std::exp(static_cast<double>(entry.score) - static_cast<double>(best_score_));
    }

    double weight_of_kept() {
        double sum = 0;
        if (num_kept_ == candidates_.size()) {
            for (const CandidateList::Entry& entry : candidates_.unordered()) sum += weight(entry);
            return sum;
        }
        for (std::size_t rank = 0; rank < num_kept_; ++rank) sum += weight(candidates_.at(rank));
        return sum;
    }

    void keep_top_k(std::size_t top_k) {
        if (top_k >= num_kept_) return;
        const float lowest = candidates_.at(top_k - 1).score;
        std::size_t kept = top_k;
        while (kept < num_kept_ && candidates_.at(kept).score == lowest) ++kept;
        num_kept_ = kept;
    }

    void keep_top_p(float top_p) {
        const double total = weight_of_kept();
        const double may_be_dropped = (1.0 - static_cast<double>(top_p)) * total;
        double left = total;  // weight of rank `kept` and everything after it
        std::size_t kept = 0;
        do {
            left -= weight(candidates_.at(kept));
            ++kept;
        } while (kept < num_kept_ && left > may_be_dropped);
        num_kept_ = kept;
    }

    void keep_min_p(float min_p) {  // the best candidate has weight 1
        std::size_t kept = 1;
        while (kept < num_kept_ && weight(candidates_.at(kept)) >= static_cast<double>(min_p)) ++kept;
        num_kept_ = kept;
    }

    CandidateList candidates_;
    float best_score_;
    std::size_t num_kept_ = 0;
    double kept_weight_ = 0;
};

/// log(sum(exp(logits))). Single terms in float32: their error, 1e-7, is far below what a log probability is
/// read for.
double log_sum_exp(std::span<const float> logits) {
    const float largest = *std::max_element(logits.begin(), logits.end());
    double sum = 0;
    for (const float logit : logits) sum += static_cast<double>(std::exp(logit - largest));
    return static_cast<double>(largest) + std::log(sum);
}

}  // namespace

Result<void> validate(const SamplingParams& params) {
    struct Range {
        std::string_view name;
        float value;
        float lowest;
        float highest;
    };
    const Range ranges[] = {
        {"temperature", params.temperature, 0.0F, 100.0F},
        {"top_p", params.top_p, 0.0F, 1.0F},
        {"min_p", params.min_p, 0.0F, 1.0F},
        {"repetition_penalty", params.repetition_penalty, 0.01F, 100.0F},
        {"presence_penalty", params.presence_penalty, -100.0F, 100.0F},
        {"frequency_penalty", params.frequency_penalty, -100.0F, 100.0F},
    };
    for (const Range& range : ranges) {
        if (range.value >= range.lowest && range.value <= range.highest) continue;  // NaN fails both
        return failure(StatusKind::kInvalidArgument,
                       fmt::format("{} is {}; it must be a number from {} to {}.", range.name, range.value,
                                   range.lowest, range.highest));
    }
    if (params.top_k < 0) {
        return failure(StatusKind::kInvalidArgument,
                       fmt::format("top_k is {}; it must be 0 (off) or more.", params.top_k));
    }
    return {};
}

Result<std::vector<TokenCandidate>> sampling_distribution(std::span<const float> logits,
                                                          const SamplingParams& params,
                                                          const TokenHistory& history) {
    const Result<std::vector<float>> scores = option_scores(logits, params, history);
    if (!scores) return tl::unexpected(scores.error());
    Distribution distribution(*scores, params, 0);
    std::vector<TokenCandidate> kept;
    kept.reserve(distribution.num_kept());
    for (std::size_t rank = 0; rank < distribution.num_kept(); ++rank) {
        kept.push_back(distribution.candidate(rank, logits));
    }
    return kept;
}

Result<SampledToken> sample_token(std::span<const float> logits, const SamplingParams& params,
                                  const TokenHistory& history, std::uint64_t step,
                                  std::int32_t num_candidates) {
    const Result<std::vector<float>> scores = option_scores(logits, params, history);
    if (!scores) return tl::unexpected(scores.error());
    Distribution distribution(*scores, params, num_candidates);

    SampledToken token;
    token.uniform = is_greedy(params) ? 0.0F : counter_uniform(params.seed, step);
    const std::size_t rank = distribution.draw(token.uniform);
    const TokenCandidate drawn = distribution.candidate(rank, logits);
    token.token_id = drawn.token_id;
    token.rank = static_cast<std::int32_t>(rank);
    token.logprob = static_cast<float>(static_cast<double>(drawn.logit) - log_sum_exp(logits));
    const auto num_shown = std::min(static_cast<std::size_t>(num_candidates), distribution.num_candidates());
    token.candidates.reserve(num_shown);
    for (std::size_t shown = 0; shown < num_shown; ++shown) {
        token.candidates.push_back(distribution.candidate(shown, logits));
    }
    return token;
}

}  // namespace glmchat
