#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/generate/fake_model.h"

#include "engine/generate/scheduler.h"

namespace glmchat::test {

/// All events of one generation, put together.
struct Answer {
    std::vector<PrefillProgress> progress;
    std::vector<SampledToken> tokens;
    std::vector<std::string> texts;
    std::optional<FinishedEvent> finished;
    std::optional<FailedEvent> failed;
    std::int32_t num_ends = 0;
    bool had_event_after_end = false;

    bool has_ended() const { return num_ends > 0; }
    Ids token_ids() const {
        Ids ids;
        for (const SampledToken& token : tokens) ids.push_back(token.token_id);
        return ids;
    }
    std::string text() const {
        std::string all;
        for (const std::string& piece : texts) all += piece;
        return all + (finished ? finished->text : "");
    }
};

/// A scheduler over the fake model, and what its requests were answered.
class SchedulerFixture {
  public:
    explicit SchedulerFixture(const SchedulerOptions& options = small_cache(),
                              const FakeModel::Options& model = {}) {
        auto owned = std::make_unique<FakeModel>(model);
        model_ = owned.get();
        auto created = Scheduler::create(std::move(owned), options);
        if (!created) throw std::runtime_error(created.error().message);
        scheduler_ = std::move(*created);
    }
    ~SchedulerFixture() { scheduler_.reset(); }  // before answers_, which its last events go to

    static SchedulerOptions small_cache() {
        SchedulerOptions options;
        options.context_size = 256;
        options.kv_cache_bytes = 1024 * kBytesPerToken;
        options.block_size = 4;
        options.prefill_chunk_tokens = 16;
        return options;
    }
    /// Of the fake model: 2 layers x key and value x 2 floats.
    static constexpr std::size_t kBytesPerToken = 32;

    FakeModel& model() { return *model_; }
    Scheduler& scheduler() { return *scheduler_; }
    void destroy() { scheduler_.reset(); }

    /// A greedy request whose events are collected.
    GenerationRequest request(std::uint64_t id, Ids prompt, std::int32_t max_new_tokens) {
        GenerationRequest request;
        request.generation_id = id;
        request.prompt_ids = std::move(prompt);
        request.max_new_tokens = max_new_tokens;
        request.sampling.temperature = 0;
        request.on_event = [this](const GenerationEvent& event) { take(event); };
        return request;
    }
    void submit(GenerationRequest request) {
        if (Result<void> submitted = scheduler_->submit(std::move(request)); !submitted) {
            throw std::runtime_error(submitted.error().message);
        }
    }
    void submit(std::uint64_t id, Ids prompt, std::int32_t max_new_tokens) {
        submit(request(id, std::move(prompt), max_new_tokens));
    }
    /// Steps until nothing is left to do.
    void drain() {
        for (int steps = 0; scheduler_->step(); ++steps) {
            if (steps > 100000) throw std::runtime_error("the scheduler does not come to an end");
        }
    }
    Answer answer(std::uint64_t id) const {
        const std::lock_guard lock(mutex_);
        const auto found = answers_.find(id);
        return found == answers_.end() ? Answer{} : found->second;
    }
    /// A whole answer by hand.
    Answer run(GenerationRequest request) {
        const std::uint64_t id = request.generation_id;
        submit(std::move(request));
        drain();
        return answer(id);
    }

    void take(const GenerationEvent& event) {
        const std::lock_guard lock(mutex_);
        Answer& answer = answers_[event.generation_id];
        answer.had_event_after_end |= answer.has_ended();
        std::visit([&answer](const auto& what) { add(answer, what); }, event.what);
    }

  private:
    static void add(Answer& answer, const PrefillProgress& progress) { answer.progress.push_back(progress); }
    static void add(Answer& answer, const TokenEvent& event) {
        answer.tokens.push_back(event.token);
        answer.texts.push_back(event.text);
    }
    static void add(Answer& answer, const FinishedEvent& event) {
        ++answer.num_ends;
        answer.finished = event;
    }
    static void add(Answer& answer, const FailedEvent& event) {
        ++answer.num_ends;
        answer.failed = event;
    }

    mutable std::mutex mutex_;
    std::map<std::uint64_t, Answer> answers_;
    FakeModel* model_ = nullptr;
    std::unique_ptr<Scheduler> scheduler_;
};

/// `count` ids of a small vocabulary that look random but are always the same for a seed.
inline Ids some_ids(std::uint32_t seed, std::size_t count) {
    Ids ids;
    for (std::uint32_t state = seed * 2654435761u + 1; ids.size() < count;) {
        state = state * 1664525u + 1013904223u;
        ids.push_back(static_cast<std::int32_t>((state >> 16) % 97));
    }
    return ids;
}

inline Ids joined(Ids a, const Ids& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
}

}  // namespace glmchat::test
