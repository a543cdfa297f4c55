#include <algorithm>

#include "tests/engine/generate/scheduler_check_groups.h"
#include "tests/engine/generate/scheduler_fixture.h"
#include <fmt/format.h>

#include "engine/generate/forward_batch.h"

namespace glmchat::test {
namespace {

/// Prompts of very different lengths, half of them with a common beginning.
Ids prompt_of(std::uint64_t id) {
    const Ids common = some_ids(99, 20);
    const Ids own = some_ids(static_cast<std::uint32_t>(id), 3 + static_cast<std::size_t>(id * 37 % 90));
    return id % 2 == 0 ? joined(common, own) : own;
}

CheckResult together_as_alone(std::uint64_t num_conversations, std::int32_t prefix_length) {
    SchedulerFixture fixture(SchedulerFixture::small_cache(), {.prefix_length = prefix_length});
    for (std::uint64_t id = 1; id <= num_conversations; ++id) fixture.submit(id, prompt_of(id), 25);
    fixture.drain();
    for (std::uint64_t id = 1; id <= num_conversations; ++id) {
        const Answer answer = fixture.answer(id);
        if (!answer.finished || answer.finished->new_ids != fixture.model().greedy(prompt_of(id), 25)) {
            return failed(fmt::format("conversation {} got other ids than alone", id));
        }
    }
    const bool were_together = std::ranges::any_of(fixture.model().batches, [&](const Ids& batch) {
        return batch.size() == std::min<std::size_t>(num_conversations, 8);
    });
    return were_together ? passed() : failed("they never ran in one batch");
}

CheckResult chunk_size_changes_nothing(std::int32_t chunk_tokens) {
    SchedulerOptions options = SchedulerFixture::small_cache();
    options.prefill_chunk_tokens = chunk_tokens;
    SchedulerFixture fixture(options);
    for (std::uint64_t id = 1; id <= 4; ++id) fixture.submit(id, prompt_of(id), 12);
    fixture.drain();
    for (std::uint64_t id = 1; id <= 4; ++id) {
        if (fixture.answer(id).finished->new_ids != fixture.model().greedy(prompt_of(id), 12)) {
            return failed(fmt::format("conversation {} got other ids", id));
        }
    }
    return passed();
}

/// Draws one by one from the model's logits, without a scheduler.
Ids drawn_by_hand(const FakeModel& model, const Ids& prompt, const SamplingParams& params,
                  std::size_t count) {
    Ids new_ids;
    while (new_ids.size() < count) {
        const std::vector<float> logits = model.logits_after(joined(prompt, new_ids));
        new_ids.push_back(sample_token(logits, params, {prompt, new_ids}, new_ids.size())->token_id);
    }
    return new_ids;
}

CheckResult seeded_answer_does_not_depend_on_the_batch() {
    SamplingParams params;
    params.seed = 11;
    params.repetition_penalty = 1.1F;
    params.frequency_penalty = 0.3F;
    for (const std::uint64_t num_others : {0, 5}) {
        SchedulerFixture fixture;
        for (std::uint64_t id = 2; id < 2 + num_others; ++id) fixture.submit(id, prompt_of(id), 30);
        GenerationRequest request = fixture.request(1, prompt_of(1), 40);
        request.sampling = params;
        const Ids expected = drawn_by_hand(fixture.model(), prompt_of(1), params, 40);
        if (fixture.run(std::move(request)).finished->new_ids != expected) {
            return failed(fmt::format("other ids beside {} others", num_others));
        }
    }
    return passed();
}

CheckResult submit_while_running() {
    SchedulerFixture fixture;
    for (std::uint64_t id = 1; id <= 12; ++id) {
        fixture.submit(id, prompt_of(id), 20);
        fixture.scheduler().step();
    }
    fixture.drain();
    for (std::uint64_t id = 1; id <= 12; ++id) {
        if (fixture.answer(id).finished->new_ids != fixture.model().greedy(prompt_of(id), 20)) {
            return failed(fmt::format("conversation {} got other ids", id));
        }
    }
    return passed();
}

// --- fairness ---

CheckResult long_prefill_does_not_starve_a_chat() {
    SchedulerFixture fixture;
    fixture.submit(1, some_ids(1, 4), 60);
    fixture.scheduler().step();
    fixture.submit(2, some_ids(2, 200), 1);  // 13 chunks of 16
    for (int step = 0; step < 10; ++step) {
        const std::size_t before = fixture.answer(1).tokens.size();
        fixture.scheduler().step();
        if (fixture.answer(1).tokens.size() != before + 1)
            return failed("a step went by without a token for the chat");
    }
    return fixture.answer(2).has_ended() ? failed("the long prompt was not long") : passed();
}

CheckResult chunks_are_smaller_beside_an_answer() {
    SchedulerOptions options = SchedulerFixture::small_cache();
    options.prefill_chunk_tokens = 32;
    options.prefill_tokens_beside_decode = 8;
    SchedulerFixture fixture(options);
    fixture.submit(1, some_ids(1, 4), 3);
    fixture.scheduler().step();
    fixture.submit(2, some_ids(2, 200), 1);
    for (int step = 0; step < 3; ++step) fixture.scheduler().step();
    const std::vector<Ids> expected = {{4}, {1, 8}, {1, 8}, {32}};
    return fixture.model().batches == expected ? passed() : failed("other batches");
}

CheckResult short_prompt_passes_a_long_one() {
    SchedulerFixture fixture;
    fixture.submit(1, some_ids(1, 200), 1);
    fixture.submit(2, some_ids(2, 8), 1);
    fixture.scheduler().step();
    if (!fixture.answer(2).has_ended()) return failed("the short prompt waited for the long one");
    if (fixture.answer(1).progress.empty()) return failed("the long one stood still");
    return passed();
}

struct ShareRow {
    Ids pending;
    std::int32_t budget;
    Ids shares;
};

const ShareRow kShares[] = {
    {{}, 16, {}},
    {{100}, 16, {16}},
    {{5}, 16, {5}},
    {{100, 100}, 16, {8, 8}},
    {{100, 3}, 16, {13, 3}},
    {{100, 4, 100}, 16, {6, 4, 6}},
    {{9, 9, 9}, 1, {1, 1, 1}},
    {{2, 50, 3, 50}, 25, {2, 10, 3, 10}},
};

CheckResult prefill_is_shared(const ShareRow& row) {
    return share_prefill(row.pending, row.budget) == row.shares ? passed() : failed("other shares");
}

CheckResult first_come_first_served() {
    SchedulerOptions options = SchedulerFixture::small_cache();
    options.max_running = 1;
    SchedulerFixture fixture(options);
    for (std::uint64_t id = 1; id <= 4; ++id) fixture.submit(id, some_ids(1, 5), 3);
    for (std::uint64_t id = 1; id <= 4; ++id) {
        while (!fixture.answer(id).has_ended()) fixture.scheduler().step();
        if (id < 4 && fixture.answer(id + 1).has_ended()) return failed("out of order");
    }
    return passed();
}

// --- more sequences than blocks ---

CheckResult preempted_sequences_give_the_same_ids(bool reuse) {
    SchedulerOptions options = SchedulerFixture::small_cache();
    options.context_size = 64;
    options.kv_cache_bytes = 80 * SchedulerFixture::kBytesPerToken;
    SchedulerFixture fixture(options);
    for (std::uint64_t id = 1; id <= 4; ++id) {
        GenerationRequest request = fixture.request(id, some_ids(static_cast<std::uint32_t>(id), 10), 50);
        request.reuse_prefix = reuse;
        fixture.submit(std::move(request));
    }
    bool was_preempted = false;
    std::int32_t most_running = 0;
    while (fixture.scheduler().step()) {
        const std::int32_t running = fixture.scheduler().info().num_running;
        was_preempted |= running < most_running && !fixture.answer(1).has_ended();
        most_running = std::max(most_running, running);
    }
    if (!was_preempted) return failed("nothing was preempted: the check checks nothing");
    for (std::uint64_t id = 1; id <= 4; ++id) {
        const Answer answer = fixture.answer(id);
        if (!answer.finished) return failed("no end");
        if (answer.token_ids() != fixture.model().greedy(some_ids(static_cast<std::uint32_t>(id), 10), 50)) {
            return failed(fmt::format("conversation {} got other ids", id));
        }
        const GenerationStats& stats = answer.finished->stats;
        if (stats.num_prompt_tokens != stats.num_reused_tokens + stats.num_prefill_tokens)
            return failed("wrong statistics");
    }
    return passed();
}

CheckResult full_contexts_one_after_the_other() {
    SchedulerOptions options = SchedulerFixture::small_cache();
    options.context_size = 64;
    options.kv_cache_bytes = 64 * SchedulerFixture::kBytesPerToken;  // exactly one
    SchedulerFixture fixture(options);
    for (std::uint64_t id = 1; id <= 3; ++id)
        fixture.submit(id, some_ids(static_cast<std::uint32_t>(id), 30), 1000);
    fixture.drain();
    for (std::uint64_t id = 1; id <= 3; ++id) {
        const Answer answer = fixture.answer(id);
        if (!answer.finished || answer.finished->reason != FinishReason::kContextFull)
            return failed("wrong end");
        if (answer.token_ids() != fixture.model().greedy(some_ids(static_cast<std::uint32_t>(id), 30), 34)) {
            return failed("other ids");
        }
    }
    return passed();
}

}  // namespace

void add_batching_checks(std::vector<Check>& checks) {
    for (const std::uint64_t count : {2, 8, 20}) {
        for (const std::int32_t prefix : {0, 6}) {
            checks.push_back({fmt::format("batching/{}_together_prefix_{}", count, prefix),
                              [count, prefix] { return together_as_alone(count, prefix); }});
        }
    }
    for (const std::int32_t chunk : {1, 7, 64, 1000000}) {
        checks.push_back(
            {fmt::format("batching/chunk_{}", chunk), [chunk] { return chunk_size_changes_nothing(chunk); }});
    }
    checks.push_back({"batching/seeded", seeded_answer_does_not_depend_on_the_batch});
    checks.push_back({"batching/submit_while_running", submit_while_running});
    checks.push_back({"fair/decode_beside_prefill", long_prefill_does_not_starve_a_chat});
    checks.push_back({"fair/smaller_chunks_beside_an_answer", chunks_are_smaller_beside_an_answer});
    checks.push_back({"fair/short_beside_long", short_prompt_passes_a_long_one});
    checks.push_back({"fair/first_come_first_served", first_come_first_served});
    int number = 0;
    for (const ShareRow& row : kShares) {
        checks.push_back(
            {fmt::format("fair/shares_{}", number++), [&row] { return prefill_is_shared(row); }});
    }
    checks.push_back({"preempt/same_ids", [] { return preempted_sequences_give_the_same_ids(true); }});
    checks.push_back(
        {"preempt/same_ids_without_reuse", [] { return preempted_sequences_give_the_same_ids(false); }});
    checks.push_back({"preempt/room_for_one_only", full_contexts_one_after_the_other});
}

}  // namespace glmchat::test
