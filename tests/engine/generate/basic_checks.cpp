#include <algorithm>
#include <limits>

#include "tests/engine/generate/scheduler_check_groups.h"
#include "tests/engine/generate/scheduler_fixture.h"
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace glmchat::test {
namespace {

CheckResult greedy_ids_are_right(std::int32_t prefix_length) {
    SchedulerFixture fixture(SchedulerFixture::small_cache(), {.prefix_length = prefix_length});
    const Ids prompt = some_ids(1, 37);
    const Answer answer = fixture.run(fixture.request(1, prompt, 30));
    const Ids expected = fixture.model().greedy(prompt, 30);
    if (!answer.finished || answer.finished->new_ids != expected) return failed("wrong ids");
    if (answer.token_ids() != expected || answer.num_ends != 1)
        return failed("the events tell another story");
    return passed();
}

CheckResult max_new_tokens_counts_the_answer(std::int32_t max_new_tokens) {
    SchedulerFixture fixture;
    const Answer answer = fixture.run(fixture.request(1, some_ids(2, 20), max_new_tokens));
    if (!answer.finished || answer.finished->reason != FinishReason::kMaxNewTokens)
        return failed("wrong end");
    const auto count = static_cast<std::int32_t>(answer.finished->new_ids.size());
    if (count != max_new_tokens) return failed(fmt::format("{} tokens", count));
    if (max_new_tokens == 0 && fixture.model().num_rows_computed != 0) return failed("computed for nothing");
    return passed();
}

CheckResult stop_token_ends_and_is_left_out() {
    SchedulerFixture fixture;
    const Ids prompt = some_ids(3, 10);
    Ids expected = fixture.model().greedy(prompt, 20);
    GenerationRequest request = fixture.request(1, prompt, 20);
    request.stop_token_ids = {96 + 1, expected[12]};
    expected.resize(static_cast<std::size_t>(std::ranges::find(expected, expected[12]) - expected.begin()));
    const Answer answer = fixture.run(std::move(request));
    if (!answer.finished || answer.finished->reason != FinishReason::kStopToken) return failed("wrong end");
    if (answer.finished->new_ids != expected || answer.token_ids() != expected) return failed("wrong ids");
    return passed();
}

CheckResult full_context_ends() {
    SchedulerFixture fixture;
    const Ids prompt = some_ids(4, 250);
    const Answer answer = fixture.run(fixture.request(1, prompt, 100));
    if (!answer.finished || answer.finished->reason != FinishReason::kContextFull) return failed("wrong end");
    if (answer.finished->new_ids != fixture.model().greedy(prompt, 6))
        return failed("not the 6 tokens of room");
    return passed();
}

CheckResult statistics_are_true() {
    SchedulerFixture fixture;
    const Ids prompt = some_ids(5, 40);
    const GenerationStats first = fixture.run(fixture.request(1, prompt, 5)).finished->stats;
    if (first.num_prompt_tokens != 40 || first.num_reused_tokens != 0 || first.num_prefill_tokens != 40 ||
        first.num_new_tokens != 5) {
        return failed("wrong counts of the first");
    }
    const Answer second = fixture.run(fixture.request(2, prompt, 3));
    const GenerationStats& stats = second.finished->stats;
    if (stats.num_reused_tokens != 36 || stats.num_prefill_tokens != 4)
        return failed("wrong counts of the second");
    if (stats.queue_time.count() < 0 || stats.prefill_time.count() <= 0 || stats.decode_time.count() < 0) {
        return failed("a duration is not positive");
    }
    if (second.progress.size() != 1 || second.progress[0].num_done != 40 ||
        second.progress[0].num_total != 40) {
        return failed("wrong progress");
    }
    return passed();
}

CheckResult progress_counts_up_to_the_prompt() {
    SchedulerFixture fixture;
    const Answer answer = fixture.run(fixture.request(1, some_ids(6, 40), 1));
    Ids done;
    for (const PrefillProgress& progress : answer.progress) done.push_back(progress.num_done);
    return done == Ids{16, 32, 40} ? passed() : failed(fmt::format("{}", fmt::join(done, " ")));
}

CheckResult candidates_are_reported() {
    SchedulerFixture fixture;
    GenerationRequest request = fixture.request(1, some_ids(7, 10), 3);
    request.num_candidates = 4;
    const Answer answer = fixture.run(std::move(request));
    for (const SampledToken& token : answer.tokens) {
        if (token.candidates.size() != 4 || token.candidates[0].token_id != token.token_id)
            return failed("wrong candidates");
    }
    return passed();
}

CheckResult info_is_true() {
    SchedulerFixture fixture;
    SchedulerInfo info = fixture.scheduler().info();
    if (info.context_size != 256 || info.kv_bytes_per_token != SchedulerFixture::kBytesPerToken ||
        info.kv_cache_bytes != 1024 * SchedulerFixture::kBytesPerToken) {
        return failed("wrong sizes");
    }
    fixture.submit(1, some_ids(8, 30), 5);
    fixture.submit(2, some_ids(9, 30), 5);
    if (fixture.scheduler().info().num_queued != 2) return failed("two should wait");
    fixture.scheduler().step();
    info = fixture.scheduler().info();
    if (info.num_queued != 0 || info.num_running != 2) return failed("two should run");
    fixture.drain();
    info = fixture.scheduler().info();
    if (info.num_running != 0 || info.num_cached_tokens != 2 * 34) {
        return failed(fmt::format("{} cached tokens", info.num_cached_tokens));
    }
    fixture.scheduler().clear_cache();
    return fixture.scheduler().info().num_cached_tokens == 0 ? passed() : failed("the cache was not cleared");
}

CheckResult threads_are_set() {
    SchedulerFixture fixture;
    fixture.scheduler().set_num_threads(3);
    if (fixture.model().host_backend().num_threads != 3) return failed("not at once while idle");
    fixture.model().before_layer = [&](std::int32_t, const std::stop_token&) {
        fixture.scheduler().set_num_threads(5);
    };
    fixture.run(fixture.request(1, some_ids(1, 5), 3));
    return fixture.model().host_backend().num_threads == 5 ? passed() : failed("not while running");
}

// --- refused ---

struct RefusedRow {
    const char* name;
    void (*change)(GenerationRequest&);
    StatusKind kind;
};

const RefusedRow kRefused[] = {
    {"no_receiver", [](GenerationRequest& r) { r.on_event = nullptr; }, StatusKind::kInvalidArgument},
    {"empty_prompt", [](GenerationRequest& r) { r.prompt_ids.clear(); }, StatusKind::kInvalidArgument},
    {"negative_id", [](GenerationRequest& r) { r.prompt_ids[3] = -1; }, StatusKind::kInvalidArgument},
    {"id_out_of_vocabulary", [](GenerationRequest& r) { r.prompt_ids[3] = 97; },
     StatusKind::kInvalidArgument},
    {"largest_id", [](GenerationRequest& r) { r.prompt_ids[0] = std::numeric_limits<std::int32_t>::max(); },
     StatusKind::kInvalidArgument},
    {"prompt_longer_than_context", [](GenerationRequest& r) { r.prompt_ids = some_ids(1, 257); },
     StatusKind::kContextFull},
    {"prompt_fills_context", [](GenerationRequest& r) { r.prompt_ids = some_ids(1, 256); },
     StatusKind::kContextFull},
    {"max_new_tokens", [](GenerationRequest& r) { r.max_new_tokens = -1; }, StatusKind::kInvalidArgument},
    {"num_candidates", [](GenerationRequest& r) { r.num_candidates = -1; }, StatusKind::kInvalidArgument},
    {"sampling", [](GenerationRequest& r) { r.sampling.top_p = 2; }, StatusKind::kInvalidArgument},
    {"stop_string_without_decoder", [](GenerationRequest& r) { r.stop_strings = {"stop"}; },
     StatusKind::kInvalidArgument},
    {"id_in_use", [](GenerationRequest& r) { r.generation_id = 7; }, StatusKind::kInvalidArgument},
};

CheckResult refused(const RefusedRow& row) {
    SchedulerFixture fixture;
    fixture.submit(7, some_ids(1, 5), 2);
    GenerationRequest request = fixture.request(8, some_ids(2, 10), 2);
    row.change(request);
    const Result<void> submitted = fixture.scheduler().submit(std::move(request));
    if (submitted) return failed("was accepted");
    if (submitted.error().kind != row.kind || submitted.error().message.empty())
        return failed("another kind of error");
    fixture.drain();
    if (fixture.answer(8).has_ended()) return failed("an event was sent");
    return fixture.answer(7).finished ? passed() : failed("another request was disturbed");
}

CheckResult full_queue_is_busy() {
    SchedulerOptions options = SchedulerFixture::small_cache();
    options.max_running = 2;
    options.max_queued = 3;
    SchedulerFixture fixture(options);
    for (std::uint64_t id = 1; id <= 3; ++id) fixture.submit(id, some_ids(1, 5), 4);
    const Result<void> refused_one = fixture.scheduler().submit(fixture.request(4, some_ids(1, 5), 4));
    if (refused_one || refused_one.error().kind != StatusKind::kBusy) return failed("not kBusy");
    fixture.scheduler().step();  // two go on to run
    fixture.submit(4, some_ids(1, 5), 4);
    fixture.drain();
    for (std::uint64_t id = 1; id <= 4; ++id) {
        if (!fixture.answer(id).finished) return failed(fmt::format("request {} has no end", id));
    }
    return passed();
}

CheckResult id_is_free_after_its_end() {
    SchedulerFixture fixture;
    fixture.run(fixture.request(1, some_ids(1, 5), 2));
    return fixture.scheduler().submit(fixture.request(1, some_ids(1, 5), 2)) ? passed()
                                                                             : failed("still in use");
}

// --- options ---

struct OptionsRow {
    const char* name;
    SchedulerOptions options;
    std::int32_t context_size;  ///< expected, 0 = refused
    std::size_t kv_cache_tokens;
};

constexpr std::size_t kToken = SchedulerFixture::kBytesPerToken;
const OptionsRow kOptions[] = {
    {"defaults", {}, 512, 768},
    {"context", {.context_size = 100}, 100, 176},  // 7 blocks of 16, and half again
    {"budget", {.context_size = 100, .kv_cache_bytes = 200 * kToken}, 100, 192},
    {"budget_below_context", {.context_size = 100, .kv_cache_bytes = 96 * kToken}, 0, 0},
    {"budget_below_default", {.kv_cache_bytes = 100 * kToken}, 96, 96},
    {"budget_of_nothing", {.kv_cache_bytes = 1}, 0, 0},
    {"context_beyond_model", {.context_size = 513}, 0, 0},
    {"negative_context", {.context_size = -1}, 0, 0},
    {"block_size", {.block_size = 0}, 0, 0},
    {"chunk", {.prefill_chunk_tokens = 0}, 0, 0},
    {"chunk_beside_decode", {.prefill_tokens_beside_decode = 0}, 0, 0},
    {"running", {.max_running = 0}, 0, 0},
    {"queued", {.max_queued = 0}, 0, 0},
};

CheckResult check_options(const OptionsRow& row) {
    const auto scheduler = Scheduler::create(std::make_unique<FakeModel>(FakeModel::Options{}), row.options);
    if (!scheduler) {
        if (row.context_size != 0) return failed(scheduler.error().message);
        return scheduler.error().kind == StatusKind::kInvalidArgument ? passed()
                                                                      : failed("another kind of error");
    }
    const SchedulerInfo info = (*scheduler)->info();
    if (info.context_size != row.context_size || info.kv_cache_bytes != row.kv_cache_tokens * kToken) {
        return failed(
            fmt::format("context {}, cache {} tokens", info.context_size, info.kv_cache_bytes / kToken));
    }
    return passed();
}

CheckResult long_models_get_the_default_context() {
    const auto scheduler =
        Scheduler::create(std::make_unique<FakeModel>(FakeModel::Options{.seq_length = 32768}), {});
    return (*scheduler)->info().context_size == 8192 ? passed() : failed("not 8192");
}

}  // namespace

void add_basic_checks(std::vector<Check>& checks) {
    for (const std::int32_t prefix : {0, 3, 4, 10}) {
        checks.push_back({fmt::format("basic/greedy_prefix_{}", prefix),
                          [prefix] { return greedy_ids_are_right(prefix); }});
    }
    for (const std::int32_t count : {0, 1, 2, 17}) {
        checks.push_back({fmt::format("basic/max_new_tokens_{}", count),
                          [count] { return max_new_tokens_counts_the_answer(count); }});
    }
    checks.push_back({"basic/stop_token", stop_token_ends_and_is_left_out});
    checks.push_back({"basic/context_full", full_context_ends});
    checks.push_back({"basic/statistics", statistics_are_true});
    checks.push_back({"basic/progress", progress_counts_up_to_the_prompt});
    checks.push_back({"basic/candidates", candidates_are_reported});
    checks.push_back({"basic/info", info_is_true});
    checks.push_back({"basic/num_threads", threads_are_set});
    for (const RefusedRow& row : kRefused) {
        checks.push_back({fmt::format("refused/{}", row.name), [&row] { return refused(row); }});
    }
    checks.push_back({"refused/queue_full", full_queue_is_busy});
    checks.push_back({"basic/id_again", id_is_free_after_its_end});
    for (const OptionsRow& row : kOptions) {
        checks.push_back({fmt::format("options/{}", row.name), [&row] { return check_options(row); }});
    }
    checks.push_back({"options/default_context", long_models_get_the_default_context});
}

}  // namespace glmchat::test
