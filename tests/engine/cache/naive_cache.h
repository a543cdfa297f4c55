#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/engine/cache/cache_fixture.h"

namespace glmchat::test {

/// The rules of KvCache written with plain lists: a block is named by the ids from the root to its end,
/// everything is searched for one by one.
class NaiveCache {
  public:
    struct Sequence {
        Ids slot_ids;
        std::size_t num_kept = 0;    // leading blocks whose contents are final
        std::size_t num_blocks = 0;  // held in all
        bool shares = true;
    };

    NaiveCache(const CacheShape& shape, Ids prefix) : shape_(shape), prefix_(std::move(prefix)) {
        for (std::size_t end = block_size(); end <= prefix_.size(); end += block_size()) {
            kept_.push_back({head(prefix_, end), end - block_size(), 0, 1, 0});
        }
    }

    std::int32_t num_available() const {
        const auto num_referenced =
            std::ranges::count_if(kept_, [](const Kept& kept) { return kept.num_references > 0; });
        return shape_.num_blocks - static_cast<std::int32_t>(num_referenced) -
               static_cast<std::int32_t>(num_private_);
    }

    std::int64_t num_kept_tokens() const {
        std::int64_t count = 0;
        for (const Kept& kept : kept_) {
            const auto first = kept.path.begin() + static_cast<std::ptrdiff_t>(kept.parent_size);
            count += std::count_if(first, kept.path.end(), [](std::int32_t id) { return id >= 0; });
        }
        return count;
    }

    /// @param last_block  of the table that the cache under test made: says which of two equally good tails
    /// it took
    Sequence open(const Ids& prompt, bool shares, std::int32_t last_block) {
        Ids wanted = prefix_;
        wanted.insert(wanted.end(), prompt.begin(), prompt.end() - 1);
        Sequence sequence;
        sequence.shares = shares;
        std::size_t found = 0;
        const std::size_t limit = shares ? wanted.size() : prefix_.size() / block_size() * block_size();
        for (; found + block_size() <= limit; found += block_size()) {
            const auto kept = find_full(head(wanted, found + block_size()));
            if (kept == kept_.end()) break;
            ++kept->num_references;
            ++sequence.num_kept;
        }
        sequence.num_blocks = sequence.num_kept;
        if (shares) found += take_tail(wanted, found, last_block, sequence);
        sequence.slot_ids = head(wanted, found);
        return sequence;
    }

    bool reserve(Sequence& sequence, std::size_t num_tokens) {
        const std::size_t needed = (prefix_.size() + num_tokens + block_size() - 1) / block_size();
        const std::size_t missing = needed > sequence.num_blocks ? needed - sequence.num_blocks : 0;
        if (static_cast<std::int32_t>(missing) > num_available()) return false;
        for (std::size_t i = 0; i < missing; ++i) take_block();
        sequence.num_blocks += missing;
        if (sequence.slot_ids.size() < prefix_.size()) sequence.slot_ids = prefix_;
        return true;
    }

    void commit(Sequence& sequence, std::span<const std::int32_t> ids) {
        sequence.slot_ids.insert(sequence.slot_ids.end(), ids.begin(), ids.end());
        if (!sequence.shares) return;
        for (; (sequence.num_kept + 1) * block_size() <= sequence.slot_ids.size(); ++sequence.num_kept) {
            const Ids path = head(sequence.slot_ids, (sequence.num_kept + 1) * block_size());
            --num_private_;
            const auto same = find_full(path);
            if (same != kept_.end()) {
                ++same->num_references;
            } else {
                kept_.push_back({path, path.size() - block_size(), 0, 1, 0});
            }
        }
    }

    /// @param tail_block  number of the unfinished last block, if there is one
    void close(const Sequence& sequence, bool keeps_tail, std::int32_t tail_block) {
        num_private_ -= sequence.num_blocks - sequence.num_kept;
        const std::size_t full_size = sequence.num_kept * block_size();
        if (keeps_tail && sequence.shares && sequence.slot_ids.size() > full_size &&
            !covers(sequence.slot_ids, full_size)) {
            kept_.push_back({sequence.slot_ids, full_size, tail_block, 0, ++clock_});
        }
        for (std::size_t end = full_size; end > 0; end -= block_size()) {
            const auto kept = find_full(head(sequence.slot_ids, end));
            if (--kept->num_references == 0) kept->released = ++clock_;
        }
    }

  private:
    struct Kept {
        Ids path;                     // ids from the root to the end of the block
        std::size_t parent_size = 0;  // of them before the block
        std::int32_t block = 0;       // of tails
        std::int32_t num_references = 0;
        std::int64_t released = 0;
        bool is_full(std::size_t block_size) const { return path.size() - parent_size == block_size; }
    };

    std::size_t block_size() const { return static_cast<std::size_t>(shape_.block_size); }

    static Ids head(const Ids& ids, std::size_t count) {
        return {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count)};
    }

    /// Number of ids behind the parent that `kept` and `path` share; 0 when the parent is another.
    static std::size_t overlap(const Kept& kept, const Ids& path, std::size_t parent_size) {
        if (kept.parent_size != parent_size || head(kept.path, parent_size) != head(path, parent_size))
            return 0;
        std::size_t size = parent_size;
        while (size < kept.path.size() && size < path.size() && kept.path[size] == path[size]) ++size;
        return size - parent_size;
    }

    std::vector<Kept>::iterator find_full(const Ids& path) {
        return std::ranges::find_if(
            kept_, [&](const Kept& kept) { return kept.is_full(block_size()) && kept.path == path; });
    }

    bool covers(const Ids& path, std::size_t parent_size) const {
        return std::ranges::any_of(kept_, [&](const Kept& kept) {
            return !kept.is_full(block_size()) &&
                   overlap(kept, path, parent_size) == path.size() - parent_size;
        });
    }

    std::size_t take_tail(const Ids& wanted, std::size_t found, std::int32_t last_block, Sequence& sequence) {
        std::size_t best = 0;
        for (const Kept& kept : kept_) {
            if (!kept.is_full(block_size())) best = std::max(best, overlap(kept, wanted, found));
        }
        if (best == 0) return 0;
        const auto taken = std::ranges::find_if(kept_, [&](const Kept& kept) {
            return !kept.is_full(block_size()) && kept.block == last_block &&
                   overlap(kept, wanted, found) == best;
        });
        if (taken == kept_.end()) return 0;
        kept_.erase(taken);
        ++num_private_;
        ++sequence.num_blocks;
        return best;
    }

    void take_block() {
        if (static_cast<std::size_t>(shape_.num_blocks) == kept_.size() + num_private_) {
            auto oldest = kept_.end();
            for (auto kept = kept_.begin(); kept != kept_.end(); ++kept) {
                if (kept->num_references > 0) continue;
                if (oldest == kept_.end() || kept->released < oldest->released) oldest = kept;
            }
            kept_.erase(oldest);
        }
        ++num_private_;
    }

    const CacheShape shape_;
    const Ids prefix_;
    std::vector<Kept> kept_;
    std::size_t num_private_ = 0;
    std::int64_t clock_ = 0;
};

}  // namespace glmchat::test
