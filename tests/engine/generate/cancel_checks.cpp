#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <thread>

#include "tests/engine/generate/scheduler_check_groups.h"
#include "tests/engine/generate/scheduler_fixture.h"
#include <fmt/format.h>

namespace glmchat::test {
namespace {

bool begins_with(const Ids& ids, const Ids& beginning) {
    return beginning.size() <= ids.size() && std::equal(beginning.begin(), beginning.end(), ids.begin());
}

/// Nothing wrong stayed in the cache: the same prompts, asked again, get the right ids.
CheckResult asked_again(SchedulerFixture& fixture, const std::vector<Ids>& prompts) {
    std::uint64_t id = 1000;
    for (const Ids& prompt : prompts) {
        const Answer answer = fixture.run(fixture.request(++id, prompt, 20));
        if (!answer.finished || answer.finished->new_ids != fixture.model().greedy(prompt, 20)) {
            return failed("a prompt asked again got other ids");
        }
    }
    return passed();
}

CheckResult cancelled_at_step(int cancel_step) {
    SchedulerFixture fixture;
    const std::vector<Ids> prompts = {some_ids(1, 21), some_ids(2, 75), some_ids(3, 6)};
    for (std::uint64_t id = 1; id <= 3; ++id) fixture.submit(id, prompts[id - 1], 20);
    for (int step = 0; step < cancel_step; ++step) fixture.scheduler().step();
    const bool was_over = fixture.answer(2).has_ended();
    fixture.scheduler().cancel(2);
    fixture.drain();
    const Answer cancelled = fixture.answer(2);
    if (!cancelled.finished || cancelled.num_ends != 1) return failed("not exactly one end");
    if (!was_over && cancelled.finished->reason != FinishReason::kCancelled) return failed("not cancelled");
    if (!begins_with(fixture.model().greedy(prompts[1], 20), cancelled.finished->new_ids))
        return failed("wrong ids before");
    for (const std::uint64_t id : {1, 3}) {
        if (fixture.answer(id).finished->new_ids != fixture.model().greedy(prompts[id - 1], 20)) {
            return failed("another sequence was disturbed");
        }
    }
    return asked_again(fixture, prompts);
}

/// Cancels inside the forward pass, before the `at`-th layer that is computed.
CheckResult cancelled_between_layers(int at) {
    SchedulerFixture fixture;
    const Ids prompt = some_ids(1, 50);
    int num_layers = 0;
    fixture.model().before_layer = [&](std::int32_t, const std::stop_token&) {
        if (num_layers++ == at) fixture.scheduler().cancel(1);
    };
    const Answer answer = fixture.run(fixture.request(1, prompt, 10));
    if (!answer.finished || answer.finished->reason != FinishReason::kCancelled)
        return failed("not cancelled");
    if (num_layers != at + 1) return failed("the pass went on");
    const auto done = answer.progress.empty() ? 0 : answer.progress.back().num_done;
    fixture.model().before_layer = nullptr;
    const GenerationStats again = fixture.run(fixture.request(2, prompt, 1)).finished->stats;
    if (again.num_reused_tokens > done) return failed("a half-written block was reused");
    if (again.num_reused_tokens < std::min(done, 49) - 3) return failed("whole passes were lost");
    return asked_again(fixture, {prompt});
}

/// A pass is broken off only when most of it is for nothing.
CheckResult minority_does_not_stop_the_pass() {
    SchedulerFixture fixture;
    for (std::uint64_t id = 1; id <= 5; ++id) fixture.submit(id, some_ids(1, 3), 5);
    fixture.scheduler().step();
    const std::int32_t rows = fixture.model().num_rows_computed;
    fixture.model().before_layer = [&](std::int32_t layer, const std::stop_token&) {
        if (layer == 1) fixture.scheduler().cancel(2);
    };
    fixture.scheduler().step();
    if (fixture.model().num_rows_computed != rows + 5) return failed("the others lost their step");
    fixture.model().before_layer = [&](std::int32_t layer, const std::stop_token&) {
        if (layer == 0) fixture.scheduler().cancel(3);
        if (layer == 1) fixture.scheduler().cancel(4);
    };
    fixture.scheduler().step();
    if (fixture.model().num_rows_computed != rows + 5)
        return failed("a pass for half of its rows was not broken off");
    fixture.drain();
    for (const std::uint64_t id : {1, 5}) {
        if (fixture.answer(id).finished->new_ids != fixture.model().greedy(some_ids(1, 3), 5))
            return failed("other ids");
    }
    return passed();
}

CheckResult waiting_request_is_cancelled() {
    SchedulerOptions options = SchedulerFixture::small_cache();
    options.max_running = 1;
    SchedulerFixture fixture(options);
    for (std::uint64_t id = 1; id <= 3; ++id) fixture.submit(id, some_ids(1, 5), 10);
    fixture.scheduler().step();
    fixture.scheduler().cancel(2);
    fixture.scheduler().step();
    const Answer cancelled = fixture.answer(2);
    if (!cancelled.finished || cancelled.finished->reason != FinishReason::kCancelled)
        return failed("not at once");
    if (cancelled.finished->stats.num_prefill_tokens != 0) return failed("wrong statistics");
    fixture.drain();
    return fixture.answer(1).finished && fixture.answer(3).finished ? passed()
                                                                    : failed("the others have no end");
}

CheckResult unknown_ids_are_ignored() {
    SchedulerFixture fixture;
    fixture.scheduler().cancel(77);
    fixture.submit(1, some_ids(1, 5), 3);
    fixture.scheduler().cancel(77);
    fixture.drain();
    fixture.scheduler().cancel(1);  // has ended
    fixture.drain();
    const Answer answer = fixture.answer(1);
    return answer.num_ends == 1 && answer.finished->reason == FinishReason::kMaxNewTokens
               ? passed()
               : failed("disturbed");
}

CheckResult cancel_all_ends_everything() {
    SchedulerFixture fixture;
    for (std::uint64_t id = 1; id <= 12; ++id) fixture.submit(id, some_ids(1, 5), 100);
    fixture.scheduler().step();
    fixture.scheduler().cancel_all();
    fixture.drain();
    for (std::uint64_t id = 1; id <= 12; ++id) {
        const Answer answer = fixture.answer(id);
        if (!answer.finished || answer.finished->reason != FinishReason::kCancelled)
            return failed("not cancelled");
    }
    return passed();
}

// --- the thread ---

/// Counts ends, so that a check can wait for them.
class Ends {
  public:
    void count(const GenerationEvent& event) {
        if (!std::holds_alternative<FinishedEvent>(event.what) &&
            !std::holds_alternative<FailedEvent>(event.what))
            return;
        const std::lock_guard lock(mutex_);
        ++num_ends_;
        changed_.notify_all();
    }
    void wait_for(int count) {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return num_ends_ >= count; });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int num_ends_ = 0;
};

GenerationRequest counted(SchedulerFixture& fixture, Ends& ends, std::uint64_t id,
                          std::int32_t max_new_tokens) {
    GenerationRequest request =
        fixture.request(id, some_ids(static_cast<std::uint32_t>(id), 10), max_new_tokens);
    request.on_event = [&](const GenerationEvent& event) {
        fixture.take(event);
        ends.count(event);
    };
    return request;
}

CheckResult thread_answers_and_sleeps() {
    Ends ends;
    SchedulerFixture fixture;
    fixture.scheduler().start();
    fixture.scheduler().start();  // once is enough
    for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 3; ++i)
            fixture.submit(counted(fixture, ends, static_cast<std::uint64_t>(round * 3 + i + 1), 10));
        ends.wait_for(3 * (round + 1));
    }
    fixture.scheduler().stop();
    fixture.scheduler().stop();
    for (std::uint64_t id = 1; id <= 15; ++id) {
        const Ids expected = fixture.model().greedy(some_ids(static_cast<std::uint32_t>(id), 10), 10);
        if (fixture.answer(id).finished->new_ids != expected) return failed("other ids");
    }
    return passed();
}

CheckResult stop_breaks_off_and_step_goes_on() {
    SchedulerFixture fixture;
    std::atomic<int> num_passes = 0;
    fixture.model().before_layer = [&](std::int32_t layer, const std::stop_token& stop) {
        if (layer == 0 && ++num_passes == 3) {
            while (!stop.stop_requested()) std::this_thread::yield();  // until stop() has broken the pass off
        }
    };
    fixture.submit(1, some_ids(1, 10), 20);
    fixture.scheduler().start();
    while (num_passes < 3) std::this_thread::yield();
    fixture.scheduler().stop();
    if (fixture.answer(1).has_ended()) return failed("it ended with the thread");
    fixture.drain();
    return fixture.answer(1).finished->new_ids == fixture.model().greedy(some_ids(1, 10), 20)
               ? passed()
               : failed("other ids");
}

CheckResult destructor_sends_the_ends(bool with_thread) {
    SchedulerFixture fixture;
    for (std::uint64_t id = 1; id <= 12; ++id) fixture.submit(id, some_ids(1, 30), 200);
    if (with_thread)
        fixture.scheduler().start();
    else
        fixture.scheduler().step();
    fixture.destroy();
    for (std::uint64_t id = 1; id <= 12; ++id) {
        const Answer answer = fixture.answer(id);
        if (answer.num_ends != 1 || answer.had_event_after_end) return failed("not exactly one end");
    }
    return passed();
}

}  // namespace

void add_cancel_checks(std::vector<Check>& checks) {
    for (int step = 0; step <= 28; ++step) {
        checks.push_back(
            {fmt::format("cancel/at_step_{}", step), [step] { return cancelled_at_step(step); }});
    }
    for (int layer = 0; layer < 18; ++layer) {
        checks.push_back({fmt::format("cancel/before_layer_{}", layer),
                          [layer] { return cancelled_between_layers(layer); }});
    }
    checks.push_back({"cancel/minority", minority_does_not_stop_the_pass});
    checks.push_back({"cancel/waiting", waiting_request_is_cancelled});
    checks.push_back({"cancel/unknown", unknown_ids_are_ignored});
    checks.push_back({"cancel/all", cancel_all_ends_everything});
    checks.push_back({"thread/answers", thread_answers_and_sleeps});
    checks.push_back({"thread/stop_and_go_on", stop_breaks_off_and_step_goes_on});
    checks.push_back({"thread/destructor", [] { return destructor_sends_the_ends(true); }});
    checks.push_back({"thread/destructor_without_thread", [] { return destructor_sends_the_ends(false); }});
}

}  // namespace glmchat::test
