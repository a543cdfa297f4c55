#include "tests/engine/cache/random_operations.h"

#include <optional>
#include <random>
#include <string>

#include "tests/engine/cache/cache_fixture.h"
#include "tests/engine/cache/naive_cache.h"
#include <fmt/format.h>

namespace glmchat::test {
namespace {

struct Row {
    CacheShape shape;
    bool forgets;  ///< forget_all() among the operations; the naive model does not know it
};

const Row kRows[] = {
    {{.num_blocks = 12, .block_size = 4, .prefix_length = 0}, false},
    {{.num_blocks = 30, .block_size = 2, .prefix_length = 0}, false},
    {{.num_blocks = 20, .block_size = 1, .prefix_length = 0}, false},
    {{.num_blocks = 12, .block_size = 4, .prefix_length = 8}, false},
    {{.num_blocks = 12, .block_size = 4, .prefix_length = 3}, false},
    {{.num_blocks = 14, .block_size = 4, .prefix_length = 6}, false},
    {{.num_blocks = 12, .block_size = 4, .prefix_length = 0}, true},
    {{.num_blocks = 14, .block_size = 4, .prefix_length = 6}, true},
};
constexpr int kNumOperations = 4000;
constexpr std::size_t kMaxRunning = 4;
constexpr std::size_t kMaxTokens = 30;

/// One cache under random use, with its naive twin.
class RandomUse {
  public:
    RandomUse(const Row& row, std::uint32_t seed)
        : row_(row), fixture_(row.shape), naive_(row.shape, fixture_.with_prefix({})), random_(seed) {}

    /// @return "" or what went wrong
    std::string step() {
        const std::size_t kind = below(row_.forgets ? 11 : 10);
        if (kind < 3 && running_.size() < kMaxRunning) {
            open();
        } else if (kind == 10) {
            fixture_.cache().forget_all();
        } else if (!running_.empty()) {
            Running& one = running_[below(running_.size())];
            if (kind < 7)
                grow(one);
            else if (kind == 7)
                fail_a_pass(one);
            else
                end(one, kind == 8);
        }
        return check();
    }

  private:
    struct Running {
        KvSequence sequence;
        NaiveCache::Sequence naive;
        Ids ids;  // committed and still to come
        std::size_t num_tokens() const { return static_cast<std::size_t>(sequence.num_tokens()); }
    };

    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }

    /// A prompt that mostly goes on from an earlier one. Two ids only, so that paths meet often.
    Ids make_prompt() {
        Ids prompt;
        if (!history_.empty() && below(5) > 0) {
            prompt = history_[below(history_.size())];
            prompt.resize(1 + below(prompt.size()));
        }
        const std::size_t size = std::min(kMaxTokens, prompt.size() + 1 + below(6));
        while (prompt.size() < size) prompt.push_back(static_cast<std::int32_t>(below(2)));
        return prompt;
    }

    void open() {
        Running one;
        one.ids = make_prompt();
        const bool reuse = below(8) > 0;
        one.sequence = fixture_.cache().open(one.ids, reuse);
        if (compares()) {
            const auto block_table = one.sequence.block_table();
            one.naive = naive_.open(one.ids, reuse, block_table.empty() ? -1 : block_table.back());
            const std::size_t num_slots = std::max(one.naive.slot_ids.size(), prefix_size());
            if (num_slots != prefix_size() + one.num_tokens()) problem_ = "found another number of tokens";
        }
        running_.push_back(std::move(one));
    }

    /// Room for `size` tokens, asked of both.
    bool reserve(Running& one, std::size_t size) {
        const bool has_room = one.sequence.reserve(static_cast<std::int32_t>(size)).value();
        if (compares() && has_room != naive_.reserve(one.naive, size))
            problem_ = "has room, or none, unlike the naive model";
        return has_room;
    }

    void grow(Running& one) {
        if (one.num_tokens() == one.ids.size()) {
            if (one.ids.size() >= kMaxTokens) return;
            one.ids.push_back(static_cast<std::int32_t>(below(2)));
        }
        const std::size_t first = one.num_tokens();
        const std::size_t size = first + 1 + below(one.ids.size() - first);
        if (!reserve(one, size)) return;
        const Ids until(one.ids.begin(), one.ids.begin() + static_cast<std::ptrdiff_t>(size));
        fixture_.write(one.sequence, until);
        one.sequence.commit(std::span(until).subspan(first));
        if (compares()) naive_.commit(one.naive, std::span(until).subspan(first));
    }

    /// A pass that was cancelled: its slots hold anything, nothing is committed.
    void fail_a_pass(Running& one) {
        const std::size_t size = std::min(kMaxTokens, one.num_tokens() + 1 + below(5));
        if (!reserve(one, size)) return;
        for (std::size_t at = one.num_tokens(); at < size; ++at)
            fixture_.slot(one.sequence, prefix_size() + at) = -1;
    }

    void end(Running& one, bool keeps_tail) {
        if (compares()) {
            const std::size_t num_kept = one.naive.num_kept;
            const auto block_table = one.sequence.block_table();
            naive_.close(one.naive, keeps_tail, num_kept < block_table.size() ? block_table[num_kept] : -1);
        }
        if (keeps_tail)
            one.sequence.close();
        else
            one.sequence.discard();
        history_.push_back(one.ids);
        if (history_.size() > 6) history_.erase(history_.begin());
        running_.erase(running_.begin() + (&one - running_.data()));
    }

    std::size_t prefix_size() const { return static_cast<std::size_t>(row_.shape.prefix_length); }
    bool compares() const { return !row_.forgets; }

    std::string check() {
        if (!problem_.empty()) return problem_;
        const BlockPool& pool = fixture_.cache().pool();
        const auto block_size = static_cast<std::size_t>(row_.shape.block_size);
        std::vector<std::int32_t> num_holders(static_cast<std::size_t>(pool.num_blocks()));
        std::vector<std::int32_t> num_writers(num_holders.size());
        for (const Running& one : running_) {
            if (!fixture_.is_intact(one.sequence, one.ids)) return "a written slot changed";
            const std::size_t num_final = (prefix_size() + one.num_tokens()) / block_size;
            const auto table = one.sequence.block_table();
            for (std::size_t i = 0; i < table.size(); ++i) {
                ++num_holders[static_cast<std::size_t>(table[i])];
                num_writers[static_cast<std::size_t>(table[i])] += i >= num_final;
            }
        }
        const std::int32_t num_pinned = row_.shape.prefix_length / row_.shape.block_size;
        std::int32_t num_extra = 0;  // references that no sequence holds: the whole blocks of the prefix
        std::int32_t num_held = 0;
        for (std::int32_t block = 0; block < pool.num_blocks(); ++block) {
            const auto index = static_cast<std::size_t>(block);
            num_extra += pool.num_references(block) - num_holders[index];
            num_held += pool.num_references(block) > 0;
            if (num_writers[index] > 0 && num_holders[index] != 1)
                return "a block that is written has two holders";
        }
        if (num_extra != num_pinned) return fmt::format("{} references too many", num_extra - num_pinned);
        if (pool.num_available() != pool.num_blocks() - num_held) return "blocks were lost";
        if (!compares()) return "";
        if (pool.num_available() != naive_.num_available()) return "another number of blocks is available";
        if (fixture_.cache().num_kept_tokens() != naive_.num_kept_tokens())
            return "another number of tokens is kept";
        return "";
    }

    const Row row_;
    CacheFixture fixture_;
    NaiveCache naive_;
    std::mt19937 random_;
    std::vector<Running> running_;
    std::vector<Ids> history_;
    std::string problem_;
};

CheckResult use_at_random(const Row& row) {
    for (std::uint32_t seed = 1; seed <= 5; ++seed) {
        RandomUse use(row, seed);
        for (int operation = 0; operation < kNumOperations; ++operation) {
            const std::string problem = use.step();
            if (!problem.empty())
                return failed(fmt::format("seed {}, operation {}: {}", seed, operation, problem));
        }
    }
    return passed();
}

}  // namespace

void add_random_operations(std::vector<Check>& checks) {
    for (const Row& row : kRows) {
        checks.push_back(
            {fmt::format("random/{}_blocks_of_{}_prefix_{}{}", row.shape.num_blocks, row.shape.block_size,
                         row.shape.prefix_length, row.forgets ? "_forgetting" : ""),
             [&row] { return use_at_random(row); }});
    }
}

}  // namespace glmchat::test
