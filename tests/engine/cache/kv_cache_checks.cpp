#include "tests/engine/cache/cache_fixture.h"
#include "tests/engine/cache/random_operations.h"
#include "tests/support/check.h"
#include <fmt/format.h>

namespace glmchat::test {
namespace {

Ids counting(std::int32_t first, std::size_t count) {
    Ids ids(count);
    std::iota(ids.begin(), ids.end(), first);
    return ids;
}

Ids joined(Ids a, const Ids& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

// --- by example ---

CheckResult last_prompt_token_is_computed() {
    CacheFixture fixture({});
    const Ids ids = counting(0, 8);  // exactly two blocks
    fixture.run(ids, 8);
    const std::int32_t found = fixture.run(ids, 8);
    return found == 4 ? passed() : failed(fmt::format("found {} tokens instead of one block", found));
}

CheckResult next_round_continues_in_the_unfinished_block() {
    CacheFixture fixture({});
    const Ids first_round = counting(0, 10);
    fixture.run(first_round, 5);
    const Ids second_round = joined(first_round, counting(50, 6));
    const std::int32_t found = fixture.run(second_round, 16);
    return found == 10 ? passed() : failed(fmt::format("found {} of 10 tokens", found));
}

CheckResult sibling_reuses_up_to_where_it_differs() {
    CacheFixture fixture({});
    fixture.run(counting(0, 12), 8);
    const Ids sibling = joined(counting(0, 9), counting(70, 4));
    const std::int32_t found = fixture.run(sibling, 13);
    return found == 8 ? passed() : failed(fmt::format("found {} of 8 tokens", found));
}

CheckResult running_sequences_share_blocks() {
    CacheFixture fixture({});
    const Ids ids = counting(0, 9);
    KvSequence a = fixture.cache().open(ids, true);
    KvSequence b = fixture.cache().open(ids, true);  // nothing is there yet
    if (!fixture.grow(a, ids) || !fixture.grow(b, ids)) return failed("no room");
    const bool shared = std::ranges::equal(a.block_table().first(2), b.block_table().first(2));
    if (!shared || a.block_table()[2] == b.block_table()[2])
        return failed("two full blocks should be shared, the last not");
    if (fixture.cache().pool().num_available() != 8 - 4) return failed("the doubles were not given back");
    return passed();
}

CheckResult longest_unused_conversation_goes_first() {
    CacheFixture fixture({.num_blocks = 6});
    fixture.run(counting(0, 8), 8);
    fixture.run(counting(100, 8), 8);
    fixture.run(counting(0, 8), 8);      // used again; its recomputed second block is the one already kept
    fixture.run(counting(200, 12), 12);  // needs three blocks, two are free
    const std::int32_t first = fixture.cache().open(counting(0, 9), true).num_tokens();
    const std::int32_t second = fixture.cache().open(counting(100, 9), true).num_tokens();
    if (first != 8 || second != 4)
        return failed(fmt::format("{} and {} tokens are left instead of 8 and 4", first, second));
    return passed();
}

CheckResult running_blocks_are_never_given_up() {
    CacheFixture fixture({.num_blocks = 4});
    const Ids ids = counting(0, 12);
    KvSequence running = fixture.cache().open(ids, true);
    if (!fixture.grow(running, ids)) return failed("no room");
    KvSequence other = fixture.cache().open(counting(100, 8), true);
    if (other.reserve(8).value()) return failed("got two blocks of one that was left");
    if (!other.block_table().empty() || fixture.cache().pool().num_available() != 1)
        return failed("a refusal took blocks");
    if (!other.reserve(4).value()) return failed("the last block was refused");
    return fixture.is_intact(running, ids) ? passed() : failed("a running sequence lost a block");
}

CheckResult uncommitted_slots_are_not_found() {
    CacheFixture fixture({});
    const Ids ids = counting(0, 12);
    {
        KvSequence cancelled = fixture.cache().open(ids, true);
        if (!cancelled.reserve(6).value()) return failed("no room");
        cancelled.commit(std::span(ids).first(6));
        if (!cancelled.reserve(12).value()) return failed("no room");
    }  // the pass over 6..11 was cancelled
    const std::int32_t found = fixture.cache().open(ids, true).num_tokens();
    return found == 6 ? passed() : failed(fmt::format("found {} of 6 tokens", found));
}

CheckResult without_reuse_nothing_is_looked_up_or_kept() {
    CacheFixture fixture({});
    const Ids ids = counting(0, 10);
    fixture.run(ids, 10);
    {
        KvSequence alone = fixture.cache().open(ids, false);
        if (alone.num_tokens() != 0) return failed("something was looked up");
        if (!fixture.grow(alone, joined(ids, counting(50, 6)))) return failed("no room");
    }
    const std::int32_t found = fixture.cache().open(joined(ids, counting(50, 7)), true).num_tokens();
    return found == 10 ? passed() : failed(fmt::format("found {} of 10 tokens", found));
}

CheckResult forgetting_leaves_running_sequences_alone() {
    CacheFixture fixture({});
    const Ids ids = counting(0, 14);
    KvSequence running = fixture.cache().open(ids, true);
    if (!fixture.grow(running, counting(0, 6))) return failed("no room");
    fixture.cache().forget_all();
    if (!fixture.grow(running, ids) || !fixture.is_intact(running, ids))
        return failed("the running sequence lost slots");
    running.close();
    const KvSequence later = fixture.cache().open(ids, true);
    if (later.num_tokens() != 0 || fixture.cache().num_kept_tokens() != 0)
        return failed("something was found again");
    return fixture.cache().pool().num_available() == 8 ? passed() : failed("blocks were lost");
}

CheckResult discarded_sequence_leaves_no_tail() {
    CacheFixture fixture({});
    const Ids ids = counting(0, 6);
    KvSequence sequence = fixture.cache().open(ids, true);
    if (!fixture.grow(sequence, ids)) return failed("no room");
    sequence.discard();
    const std::int32_t found = fixture.cache().open(ids, true).num_tokens();
    return found == 4 ? passed() : failed(fmt::format("found {} of 4 tokens", found));
}

struct PrefixRow {
    std::int32_t prefix_length;
    std::int32_t writes_after_two_conversations;
};
// Whole blocks are written once; an unfinished one again for each conversation that does not find it.
const PrefixRow kPrefixRows[] = {{4, 1}, {8, 1}, {3, 3}, {6, 3}, {9, 3}};

CheckResult prefix_is_shared(const PrefixRow& row) {
    CacheFixture fixture({.num_blocks = 16, .prefix_length = row.prefix_length});
    const Ids first = counting(0, 7);
    const Ids second = counting(100, 7);
    for (const Ids& ids : {first, second, joined(first, counting(60, 5)), joined(second, counting(80, 5))}) {
        KvSequence sequence = fixture.cache().open(ids, true);
        if (ids.size() > 7 && sequence.num_tokens() != 7)
            return failed("the second round did not find the first");
        if (!fixture.grow(sequence, ids)) return failed("no room");
        if (!fixture.is_intact(sequence, ids)) return failed("wrong contents");
    }
    if (fixture.num_prefix_writes() != row.writes_after_two_conversations) {
        return failed(fmt::format("{} prefix writes", fixture.num_prefix_writes()));
    }
    return passed();
}

CheckResult allocation_failure_is_a_status() {
    HostMemoryBackend backend;
    backend.fails_to_allocate = true;
    kernels::KvCacheView view;
    view.num_layers = view.num_blocks = view.block_size = view.num_kv_heads = view.head_dim = 1;
    const auto cache = KvCache::create(backend, view, 0, {});
    if (cache || cache.error().kind != StatusKind::kOutOfMemory) return failed("not kOutOfMemory");
    return passed();
}

}  // namespace

std::vector<Check> all_checks() {
    std::vector<Check> checks = {
        {"reuse/last_prompt_token_is_computed", last_prompt_token_is_computed},
        {"reuse/next_round", next_round_continues_in_the_unfinished_block},
        {"reuse/sibling", sibling_reuses_up_to_where_it_differs},
        {"reuse/running_sequences_share", running_sequences_share_blocks},
        {"reuse/off", without_reuse_nothing_is_looked_up_or_kept},
        {"budget/least_recently_used_goes", longest_unused_conversation_goes_first},
        {"budget/running_stays", running_blocks_are_never_given_up},
        {"budget/allocation_failure", allocation_failure_is_a_status},
        {"cancel/uncommitted_slots", uncommitted_slots_are_not_found},
        {"cancel/discard", discarded_sequence_leaves_no_tail},
        {"forget/running_goes_on", forgetting_leaves_running_sequences_alone},
    };
    for (const PrefixRow& row : kPrefixRows) {
        checks.push_back(
            {fmt::format("prefix/{}_slots", row.prefix_length), [&row] { return prefix_is_shared(row); }});
    }
    add_random_operations(checks);
    return checks;
}

}  // namespace glmchat::test
