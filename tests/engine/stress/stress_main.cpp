// Loads a model, answers several conversations at once, cancels, changes settings and unloads, at random and
// from several threads, a bounded number of times. For the thread sanitizer; also checks that every request
// gets exactly one end and that undisturbed answers are the right ones.
//
// usage: engine_stress [rounds]

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/conformance_kit.h"
#include <fmt/format.h>

#include "engine/generate/scheduler.h"

namespace {

using namespace glmchat;
using Ids = std::vector<std::int32_t>;

constexpr std::size_t kNumPrompts = 4;
constexpr std::int32_t kMaxNewTokens = 24;
constexpr std::uint64_t kRequestsPerThread = 12;

Ids prompt_of(std::uint64_t id) {
    Ids ids;
    for (std::uint64_t i = 0; i < 8 + 9 * (id % kNumPrompts); ++i) {
        ids.push_back(static_cast<std::int32_t>((i * 7 + id % kNumPrompts) % 100 + 1));
    }
    return ids;
}

std::unique_ptr<Scheduler> load() {
    auto model = load_language_model(test::source_dir() / "tests/golden/models/plain-fp16/safetensors",
                                     kernels::make_cpu_backend(2), {});
    if (!model) throw std::runtime_error(model.error().message);
    SchedulerOptions options;
    options.context_size = 96;
    options.block_size = 4;
    options.prefill_chunk_tokens = 8;
    options.max_running = 4;
    options.max_queued = 16;
    auto scheduler = Scheduler::create(std::move(*model), options);
    if (!scheduler) throw std::runtime_error(scheduler.error().message);
    return std::move(*scheduler);
}

/// What all requests of one round were answered. Any thread.
class Answers {
  public:
    void take(const GenerationEvent& event) {
        const std::lock_guard lock(mutex_);
        if (const auto* finished = std::get_if<FinishedEvent>(&event.what)) {
            ++num_ends_[event.generation_id];
            finished_[event.generation_id] = *finished;
        }
        if (const auto* failed = std::get_if<FailedEvent>(&event.what)) {
            throw std::runtime_error("a request failed: " + failed->status.message);
        }
    }
    std::size_t num_ended() const {
        const std::lock_guard lock(mutex_);
        return num_ends_.size();
    }
    /// Of a request whose end is known to have come.
    const FinishedEvent& finished(std::uint64_t id) const {
        const std::lock_guard lock(mutex_);
        if (num_ends_.at(id) != 1) throw std::runtime_error("a request has more than one end");
        return finished_.at(id);
    }

  private:
    mutable std::mutex mutex_;
    std::map<std::uint64_t, int> num_ends_;
    std::map<std::uint64_t, FinishedEvent> finished_;
};

GenerationRequest greedy_request(std::uint64_t id, Answers& answers) {
    GenerationRequest request;
    request.generation_id = id;
    request.prompt_ids = prompt_of(id);
    request.max_new_tokens = kMaxNewTokens;
    request.sampling.temperature = 0;
    request.on_event = [&answers](const GenerationEvent& event) { answers.take(event); };
    return request;
}

/// Submits requests, cancels some of its own. @return ids that were accepted
std::vector<std::uint64_t> use(Scheduler& scheduler, Answers& answers, std::uint64_t first_id,
                               std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<std::uint64_t> accepted;
    for (std::uint64_t id = first_id; id < first_id + kRequestsPerThread; ++id) {
        const Result<void> submitted = scheduler.submit(greedy_request(id, answers));
        if (submitted)
            accepted.push_back(id);
        else if (submitted.error().kind != StatusKind::kBusy)
            throw std::runtime_error(submitted.error().message);
        if (random() % 3 == 0 && !accepted.empty()) scheduler.cancel(accepted[random() % accepted.size()]);
        if (random() % 2 == 0) std::this_thread::yield();
    }
    return accepted;
}

void change_settings(Scheduler& scheduler, const std::atomic<bool>& done, std::uint32_t seed) {
    std::mt19937 random(seed);
    while (!done) {
        switch (random() % 6) {
            case 0:
                scheduler.clear_cache();
                break;
            case 1:
                scheduler.set_num_threads(1 + static_cast<std::int32_t>(random() % 2));
                break;
            case 2:
                scheduler.stop();
                break;
            case 3:
                scheduler.start();
                break;
            default:
                if (scheduler.info().num_running > 4) throw std::runtime_error("more run than allowed");
        }
        std::this_thread::yield();
    }
    scheduler.start();
}

/// @param expected  the right answer of each prompt
void one_round(std::uint32_t seed, const std::vector<Ids>& expected) {
    std::mt19937 random(seed);
    Answers answers;
    std::unique_ptr<Scheduler> scheduler = load();
    if (random() % 2 == 0) scheduler->start();
    std::vector<std::vector<std::uint64_t>> accepted(2);
    {
        std::atomic<bool> done = false;
        const std::jthread settings([&, seed] { change_settings(*scheduler, done, seed); });
        {
            std::vector<std::jthread> users;
            for (std::uint32_t user = 0; user < 2; ++user) {
                users.emplace_back(
                    [&, user] { accepted[user] = use(*scheduler, answers, 1000 * (user + 1), seed + user); });
            }
        }
        done = true;
    }
    const std::size_t num_accepted = accepted[0].size() + accepted[1].size();
    const bool unloads_at_once = random() % 3 == 0;
    while (!unloads_at_once && answers.num_ended() < num_accepted) std::this_thread::yield();
    scheduler.reset();
    for (const auto& ids : accepted) {
        for (const std::uint64_t id : ids) {
            const FinishedEvent& end = answers.finished(id);
            const bool whole = end.reason != FinishReason::kCancelled;
            if (whole && end.new_ids != expected[id % kNumPrompts])
                throw std::runtime_error("an answer has other ids");
        }
    }
}

std::vector<Ids> right_answers() {
    Answers answers;
    const std::unique_ptr<Scheduler> scheduler = load();
    std::vector<Ids> expected;
    for (std::uint64_t id = 0; id < kNumPrompts; ++id) {
        scheduler->clear_cache();
        if (!scheduler->submit(greedy_request(id, answers)))
            throw std::runtime_error("a request was refused");
        while (scheduler->step()) {
        }
        expected.push_back(answers.finished(id).new_ids);
    }
    return expected;
}

}  // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 20;
    try {
        const std::vector<Ids> expected = right_answers();
        for (int round = 0; round < rounds; ++round)
            one_round(static_cast<std::uint32_t>(round) * 17 + 1, expected);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "engine_stress: %s\n", error.what());
        return 1;
    }
    std::printf("%d rounds\n", rounds);
    return 0;
}
