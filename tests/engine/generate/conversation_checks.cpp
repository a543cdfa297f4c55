#include "tests/engine/generate/scheduler_check_groups.h"
#include "tests/engine/generate/scheduler_fixture.h"
#include <fmt/format.h>

namespace glmchat::test {
namespace {

constexpr std::int32_t kNewTokens = 11;
constexpr std::size_t kQuestion = 9;

struct Round {
    Ids new_ids;
    GenerationStats stats;
};

/// Ten rounds: each prompt is all that was said before, and a new question.
std::vector<Round> ten_rounds(SchedulerFixture& fixture, bool reuse) {
    std::vector<Round> rounds;
    Ids history;
    for (std::uint32_t round = 1; round <= 10; ++round) {
        history = joined(history, some_ids(round, kQuestion));
        GenerationRequest request = fixture.request(round, history, kNewTokens);
        request.reuse_prefix = reuse;
        const Answer answer = fixture.run(std::move(request));
        rounds.push_back({answer.finished->new_ids, answer.finished->stats});
        history = joined(history, answer.finished->new_ids);
    }
    return rounds;
}

CheckResult rounds_reuse_what_was_said(std::int32_t block_size, std::int32_t prefix_length) {
    SchedulerOptions options = SchedulerFixture::small_cache();
    options.block_size = block_size;
    SchedulerFixture with(options, {.prefix_length = prefix_length});
    SchedulerFixture without(options, {.prefix_length = prefix_length});
    const std::vector<Round> reused = ten_rounds(with, true);
    const std::vector<Round> computed = ten_rounds(without, false);
    for (std::size_t round = 0; round < reused.size(); ++round) {
        if (reused[round].new_ids != computed[round].new_ids)
            return failed(fmt::format("round {} differs", round + 1));
        if (computed[round].stats.num_reused_tokens != 0) return failed("reused although it was off");
    }
    // The last token of an answer was drawn but never computed; the rest of the history is in the cache.
    const auto new_text = static_cast<std::int32_t>(kQuestion) + 1;
    const std::int32_t prefill = reused.back().stats.num_prefill_tokens;
    if (prefill > new_text + block_size) return failed(fmt::format("round 10 computed {} tokens", prefill));
    return prefill == new_text ? passed() : failed(fmt::format("{} tokens instead of {}", prefill, new_text));
}

CheckResult computed_rows_are_what_is_said() {
    SchedulerFixture fixture;
    ten_rounds(fixture, true);
    // Per round: the question, and each token of the answer but the last, which the next round computes.
    const std::int32_t expected = 10 * (static_cast<std::int32_t>(kQuestion) + kNewTokens) - 1;
    const std::int32_t rows = fixture.model().num_rows_computed;
    return rows == expected ? passed() : failed(fmt::format("{} rows instead of {}", rows, expected));
}

CheckResult regenerated_and_edited_rounds() {
    SchedulerFixture fixture;
    const Ids first = some_ids(1, 30);
    const Ids answer = fixture.run(fixture.request(1, first, 10)).finished->new_ids;
    const Ids second = joined(joined(first, answer), some_ids(2, 10));
    fixture.run(fixture.request(2, second, 10));
    const Answer again = fixture.run(fixture.request(3, second, 10));
    if (again.finished->stats.num_prefill_tokens > 5) return failed("regenerating computed the history");
    const Ids edited = joined(joined(first, answer), some_ids(3, 10));
    const Answer sibling = fixture.run(fixture.request(4, edited, 10));
    if (sibling.finished->stats.num_prefill_tokens > 10 + 4)
        return failed("the edited round computed the history");
    if (sibling.finished->new_ids != fixture.model().greedy(edited, 10))
        return failed("the edited round got other ids");
    if (again.finished->new_ids != fixture.model().greedy(second, 10))
        return failed("regenerating gave other ids");
    return passed();
}

CheckResult several_conversations_stay_warm() {
    SchedulerFixture fixture;
    std::vector<Ids> histories;
    std::uint64_t id = 0;
    for (std::uint32_t i = 0; i < 4; ++i) histories.push_back(some_ids(10 + i, 60));
    for (int round = 0; round < 3; ++round) {
        for (Ids& history : histories) {
            const Answer answer = fixture.run(fixture.request(++id, history, 10));
            if (answer.finished->new_ids != fixture.model().greedy(history, 10)) return failed("other ids");
            if (round > 0 && answer.finished->stats.num_prefill_tokens > 5 + 1)
                return failed("a conversation went cold");
            history = joined(joined(history, answer.finished->new_ids),
                             some_ids(static_cast<std::uint32_t>(id), 5));
        }
    }
    return passed();
}

CheckResult oldest_conversation_gives_way() {
    SchedulerFixture fixture;  // room for 1024 tokens
    std::uint64_t id = 0;
    for (std::uint32_t i = 0; i < 12; ++i) fixture.run(fixture.request(++id, some_ids(i, 150), 2));
    const Answer cold = fixture.run(fixture.request(++id, some_ids(0, 150), 2));
    const Answer warm = fixture.run(fixture.request(++id, some_ids(11, 150), 2));
    if (cold.finished->stats.num_reused_tokens != 0) return failed("the oldest was still there");
    if (warm.finished->stats.num_prefill_tokens > 4) return failed("the newest was gone");
    return passed();
}

CheckResult prefix_is_written_once() {
    SchedulerFixture fixture(SchedulerFixture::small_cache(), {.prefix_length = 8});
    for (std::uint64_t id = 1; id <= 5; ++id)
        fixture.run(fixture.request(id, some_ids(static_cast<std::uint32_t>(id), 9), 3));
    const std::int32_t writes = fixture.model().num_prefix_writes;
    return writes == 1 ? passed() : failed(fmt::format("written {} times", writes));
}

}  // namespace

void add_conversation_checks(std::vector<Check>& checks) {
    for (const std::int32_t block_size : {1, 4, 16}) {
        for (const std::int32_t prefix : {0, 6}) {
            checks.push_back(
                {fmt::format("rounds/ten_blocks_of_{}_prefix_{}", block_size, prefix),
                 [block_size, prefix] { return rounds_reuse_what_was_said(block_size, prefix); }});
        }
    }
    checks.push_back({"rounds/rows_computed", computed_rows_are_what_is_said});
    checks.push_back({"rounds/regenerate_and_edit", regenerated_and_edited_rounds});
    checks.push_back({"rounds/several_conversations", several_conversations_stay_warm});
    checks.push_back({"rounds/oldest_gives_way", oldest_conversation_gives_way});
    checks.push_back({"rounds/prefix_written_once", prefix_is_written_once});
}

}  // namespace glmchat::test
