#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>

#include "tests/engine/generate/scheduler_check_groups.h"
#include "tests/engine/generate/scheduler_fixture.h"
#include <fmt/format.h>

namespace glmchat::test {
namespace {

constexpr std::int32_t kVictimToken = 90;  // in the prompt of the victim only
constexpr std::size_t kVictimPromptSize = 20;

Ids victim_prompt() {
    Ids prompt = some_ids(1, kVictimPromptSize);
    std::ranges::replace(prompt, kVictimToken, 1);
    prompt[10] = kVictimToken;
    return prompt;
}
Ids bystander_prompt() {
    Ids prompt = some_ids(2, 33);
    std::ranges::replace(prompt, kVictimToken, 1);
    return prompt;
}

bool holds_victim(const kernels::RaggedBatch& batch) {
    return std::ranges::find(batch.token_ids, kVictimToken) != batch.token_ids.end();
}

/// Bystander 2 was answered as if nothing had happened, and new requests are, the victim's prompt included.
CheckResult others_go_on(SchedulerFixture& fixture) {
    const Answer bystander = fixture.answer(2);
    if (!bystander.finished ||
        bystander.finished->new_ids != fixture.model().greedy(bystander_prompt(), 15)) {
        return failed("another sequence was disturbed");
    }
    fixture.model().fails = nullptr;
    fixture.model().change_logits = nullptr;
    const Answer again = fixture.run(fixture.request(3, victim_prompt(), 15));
    if (!again.finished || again.finished->new_ids != fixture.model().greedy(victim_prompt(), 15)) {
        return failed("the same prompt, asked again, was not answered");
    }
    return passed();
}

CheckResult run_victim_and_bystander(SchedulerFixture& fixture, StatusKind expected) {
    fixture.submit(1, victim_prompt(), 15);
    fixture.submit(2, bystander_prompt(), 15);
    fixture.drain();
    const Answer victim = fixture.answer(1);
    if (!victim.failed || victim.num_ends != 1) return failed("the victim did not fail");
    if (victim.failed->status.kind != expected)
        return failed("another kind: " + victim.failed->status.message);
    if (victim.failed->status.message.empty()) return failed("no message");
    if (victim.failed->new_ids != victim.token_ids()) return failed("the ids so far are missing");
    return others_go_on(fixture);
}

CheckResult bad_scores_fail_one_sequence(float bad, std::int32_t at_position) {
    SchedulerFixture fixture;
    const Ids right = fixture.model().greedy(victim_prompt(), 15);
    // The victim is told from the bystander by what the right next token would be.
    fixture.model().change_logits = [&, bad, at_position](std::span<float> logits, std::int32_t position) {
        const auto index = static_cast<std::size_t>(at_position) - kVictimPromptSize + 1;
        const auto best = std::ranges::max_element(logits) - logits.begin();
        if (position == at_position && best == right[index]) logits[40] = bad;
    };
    CheckResult result = run_victim_and_bystander(fixture, StatusKind::kBadLogits);
    if (result.outcome != CheckResult::Outcome::kPassed) return result;
    if (fixture.answer(3).finished->stats.num_reused_tokens != 0) return failed("suspect blocks were reused");
    return passed();
}

struct ThrowRow {
    const char* name;
    void (*fail)();
    StatusKind kind;
};

using kernels::BackendError;
const ThrowRow kThrows[] = {
    {"out_of_memory", [] { throw BackendError(BackendError::Kind::kOutOfMemory, "test", 100, 10); },
     StatusKind::kOutOfMemory},
    {"device_failure", [] { throw BackendError(BackendError::Kind::kDeviceFailure, "test"); },
     StatusKind::kDeviceFailure},
    {"bad_alloc", [] { throw std::bad_alloc(); }, StatusKind::kOutOfMemory},
    {"logic_error", [] { throw std::logic_error("test"); }, StatusKind::kInternal},
};

CheckResult pass_that_throws_fails_its_sequence(const ThrowRow& row) {
    SchedulerFixture fixture;
    fixture.model().fails = [&row](const kernels::RaggedBatch& batch) -> Result<void> {
        if (holds_victim(batch)) row.fail();
        return {};
    };
    return run_victim_and_bystander(fixture, row.kind);
}

CheckResult status_of_a_pass_fails_its_sequence(StatusKind kind, StatusKind expected) {
    SchedulerFixture fixture;
    fixture.model().fails = [kind](const kernels::RaggedBatch& batch) -> Result<void> {
        if (holds_victim(batch)) return failure(kind, "refused by the test");
        return {};
    };
    return run_victim_and_bystander(fixture, expected);
}

CheckResult batch_too_large_is_computed_one_by_one() {
    SchedulerFixture fixture;
    fixture.model().fails = [](const kernels::RaggedBatch& batch) -> Result<void> {
        if (batch.num_sequences() > 1) throw BackendError(BackendError::Kind::kOutOfMemory, "test");
        return {};
    };
    for (std::uint64_t id = 1; id <= 4; ++id)
        fixture.submit(id, some_ids(static_cast<std::uint32_t>(id), 20), 10);
    fixture.drain();
    for (std::uint64_t id = 1; id <= 4; ++id) {
        const Answer answer = fixture.answer(id);
        if (!answer.finished) return failed("a sequence failed");
        if (answer.token_ids() != fixture.model().greedy(some_ids(static_cast<std::uint32_t>(id), 20), 10)) {
            return failed("other ids");
        }
    }
    return passed();
}

CheckResult dead_device_fails_everyone_with_a_status() {
    SchedulerFixture fixture;
    fixture.model().fails = [](const kernels::RaggedBatch&) -> Result<void> {
        throw BackendError(BackendError::Kind::kDeviceFailure, "test");
    };
    for (std::uint64_t id = 1; id <= 20; ++id) fixture.submit(id, some_ids(1, 20), 10);
    fixture.drain();
    for (std::uint64_t id = 1; id <= 20; ++id) {
        const Answer answer = fixture.answer(id);
        if (!answer.failed || answer.failed->status.kind != StatusKind::kDeviceFailure)
            return failed("no status");
    }
    return passed();
}

CheckResult receiver_that_throws_ends_its_request(std::size_t at_event) {
    SchedulerFixture fixture;
    GenerationRequest request = fixture.request(1, victim_prompt(), 15);
    std::size_t num_events = 0;
    request.on_event = [&, at_event](const GenerationEvent& event) {
        fixture.take(event);
        if (num_events++ == at_event) throw std::runtime_error("test");
    };
    fixture.submit(std::move(request));
    fixture.submit(2, bystander_prompt(), 15);
    fixture.drain();
    const Answer answer = fixture.answer(1);
    if (answer.num_ends != 1 || answer.had_event_after_end) return failed("not exactly one end");
    if (!answer.failed || answer.failed->status.kind != StatusKind::kInternal) return failed("not failed");
    return others_go_on(fixture);
}

CheckResult receiver_that_always_throws_is_survived() {
    SchedulerFixture fixture;
    GenerationRequest request = fixture.request(1, victim_prompt(), 15);
    request.on_event = [](const GenerationEvent&) { throw 42; };
    fixture.submit(std::move(request));
    fixture.submit(2, bystander_prompt(), 15);
    fixture.drain();
    return others_go_on(fixture);
}

/// A decoder that throws, at the n-th id or at the end.
class ThrowingDecoder final : public TextDecoder {
  public:
    explicit ThrowingDecoder(int at_id) : ids_left_(at_id) {}
    std::string push(std::int32_t) override {
        if (ids_left_-- == 0) throw std::runtime_error("test");
        return "x";
    }
    std::string finish() override { throw std::runtime_error("test"); }

  private:
    int ids_left_;
};

CheckResult decoder_that_throws_fails_its_request(int at_id) {
    SchedulerFixture fixture;
    GenerationRequest request = fixture.request(1, victim_prompt(), 15);
    request.decoder = std::make_unique<ThrowingDecoder>(at_id);
    fixture.submit(std::move(request));
    fixture.submit(2, bystander_prompt(), 15);
    fixture.drain();
    const Answer answer = fixture.answer(1);
    if (!answer.failed || answer.num_ends != 1) return failed("not failed");
    return others_go_on(fixture);
}

CheckResult prefix_that_cannot_be_written_fails_the_request() {
    SchedulerFixture fixture(SchedulerFixture::small_cache(), {.prefix_length = 6});
    fixture.model().fails_to_write_prefix = true;
    const Answer answer = fixture.run(fixture.request(1, victim_prompt(), 5));
    if (!answer.failed || answer.failed->status.kind != StatusKind::kOutOfMemory) return failed("not failed");
    fixture.model().fails_to_write_prefix = false;
    const Answer again = fixture.run(fixture.request(2, victim_prompt(), 5));
    if (!again.finished || again.finished->new_ids != fixture.model().greedy(victim_prompt(), 5))
        return failed("no recovery");
    return passed();
}

CheckResult cache_that_cannot_be_allocated_is_a_status() {
    auto model = std::make_unique<FakeModel>(FakeModel::Options{});
    model->host_backend().fails_to_allocate = true;
    const auto scheduler = Scheduler::create(std::move(model), {});
    if (scheduler || scheduler.error().kind != StatusKind::kOutOfMemory) return failed("not kOutOfMemory");
    return passed();
}

}  // namespace

void add_failure_checks(std::vector<Check>& checks) {
    const struct {
        const char* name;
        float value;
    } bad_values[] = {{"nan", std::numeric_limits<float>::quiet_NaN()},
                      {"inf", std::numeric_limits<float>::infinity()},
                      {"minus_inf", -std::numeric_limits<float>::infinity()}};
    for (const auto& bad : bad_values) {
        for (const std::int32_t position : {19, 20, 27}) {
            checks.push_back(
                {fmt::format("failure/{}_at_{}", bad.name, position),
                 [value = bad.value, position] { return bad_scores_fail_one_sequence(value, position); }});
        }
    }
    for (const ThrowRow& row : kThrows) {
        checks.push_back({fmt::format("failure/{}", row.name),
                          [&row] { return pass_that_throws_fails_its_sequence(row); }});
    }
    checks.push_back({"failure/status", [] {
                          return status_of_a_pass_fails_its_sequence(StatusKind::kOutOfMemory,
                                                                     StatusKind::kOutOfMemory);
                      }});
    checks.push_back(
        {"failure/cancelled_without_reason",
         [] { return status_of_a_pass_fails_its_sequence(StatusKind::kCancelled, StatusKind::kInternal); }});
    checks.push_back({"failure/batch_too_large", batch_too_large_is_computed_one_by_one});
    checks.push_back({"failure/dead_device", dead_device_fails_everyone_with_a_status});
    for (const std::size_t event : {0, 1, 2, 5, 16}) {
        checks.push_back({fmt::format("failure/receiver_throws_at_{}", event),
                          [event] { return receiver_that_throws_ends_its_request(event); }});
    }
    checks.push_back({"failure/receiver_always_throws", receiver_that_always_throws_is_survived});
    for (const int id : {0, 3, 1000}) {
        checks.push_back({fmt::format("failure/decoder_throws_at_{}", id),
                          [id] { return decoder_that_throws_fails_its_request(id); }});
    }
    checks.push_back({"failure/prefix", prefix_that_cannot_be_written_fails_the_request});
    checks.push_back({"failure/allocation", cache_that_cannot_be_allocated_is_a_status});
}

}  // namespace glmchat::test
