#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace glmchat {

/// Token scores in order, best first (ties: lower id first), sorted only as far as somebody looks: a draw
/// from 65,024 tokens rarely needs more than the first few. Scores are finite.
class CandidateList {
  public:
    struct Entry {
        float score = 0;
        std::int32_t token_id = 0;
    };

    /// Takes the `at_least` best of `scores` and all that tie with the last of them. @param
    /// at_least  1..scores.size()
    CandidateList(std::span<const float> scores, std::size_t at_least);

    std::size_t size() const { return entries_.size(); }
    /// The entry of rank `rank`, 0 = best.
    const Entry& at(std::size_t rank) {
        if (rank >= num_sorted_) sort_up_to(rank + 1);
        return entries_[rank];
    }
    /// All entries, in an order that depends on the scores and the calls so far only.
    std::span<const Entry> unordered() const { return entries_; }

  private:
    void sort_up_to(std::size_t count);

    std::vector<Entry> entries_;
    std::size_t num_sorted_ = 0;
};

}  // namespace glmchat
