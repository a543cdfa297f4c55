#include "engine/sampling/candidate_list.h"

#include <algorithm>
#include <functional>
#include <limits>

namespace glmchat {
namespace {

constexpr std::size_t kFirstSortedChunk = 64;

bool ranks_before(const CandidateList::Entry& a, const CandidateList::Entry& b) {
    return a.score != b.score ? a.score > b.score : a.token_id < b.token_id;
}

/// The `count`-th largest score. One pass with a heap of the best so far: nearly all scores fail its first
/// comparison.
float nth_largest(std::span<const float> scores, std::size_t count) {
    std::vector<float> best(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(count));
    std::make_heap(best.begin(), best.end(), std::greater<>());
    for (const float score : scores.subspan(count)) {
        if (score <= best.front()) continue;
        std::pop_heap(best.begin(), best.end(), std::greater<>());
        best.back() = score;
        std::push_heap(best.begin(), best.end(), std::greater<>());
    }
    return best.front();
}

}  // namespace

CandidateList::CandidateList(std::span<const float> scores, std::size_t at_least) {
    const bool all = at_least >= scores.size();
    const float lowest = all ? std::numeric_limits<float>::lowest() : nth_largest(scores, at_least);
    entries_.reserve(at_least);
    for (std::size_t id = 0; id < scores.size(); ++id) {
        if (scores[id] >= lowest) entries_.push_back({scores[id], static_cast<std::int32_t>(id)});
    }
}

void CandidateList::sort_up_to(std::size_t count) {
    // Chunks grow geometrically, so that a long walk costs no more than a full sort.
    const std::size_t target =
        std::min(entries_.size(), std::max({count, kFirstSortedChunk, 4 * num_sorted_}));
    const auto first = entries_.begin() + static_cast<std::ptrdiff_t>(num_sorted_);
    const auto last = entries_.begin() + static_cast<std::ptrdiff_t>(target);
    if (last != entries_.end()) std::nth_element(first, last, entries_.end(), ranks_before);
    std::sort(first, last, ranks_before);
    num_sorted_ = target;
}

}  // namespace glmchat
