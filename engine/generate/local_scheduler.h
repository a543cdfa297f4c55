#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <thread>
#include <unordered_map>
#include <vector>

#include "engine/cache/kv_cache.h"
#include "engine/generate/forward_batch.h"
#include "engine/generate/generation.h"
#include "engine/generate/scheduler.h"

namespace glmchat {

/// The scheduler of a model in this process. What is shared between threads stands below `mutex_`; all else
/// belongs to the thread that steps (`is_stepping_`).
class LocalScheduler final : public Scheduler {
  public:
    /// @param options  checked and without zeros (Scheduler::create)
    LocalScheduler(std::unique_ptr<LanguageModel> model, std::unique_ptr<KvCache> cache,
                   const SchedulerOptions& options);
    ~LocalScheduler() override;

    const ModelConfig& config() const override { return model_->config(); }
    LanguageModel& model() override { return *model_; }
    SchedulerInfo info() const override;

    Result<void> submit(GenerationRequest request) override;
    void cancel(std::uint64_t generation_id) override;
    void cancel_all() override;

    bool step() override { return run_step({}); }
    void start() override;
    void stop() override;

    void clear_cache() override;
    void set_num_threads(std::int32_t num_threads) override;

  private:
    /// What one sequence computes in a step.
    struct Share {
        Generation* generation = nullptr;
        std::int32_t num_rows = 0;
    };
    /// The forward pass being computed, so that cancel() can break it off.
    struct InFlight {
        std::stop_source stop;
        std::unordered_map<const Generation*, std::int32_t> num_rows;
        std::int32_t num_rows_total = 0;
        void stop_if_mostly_cancelled();
    };

    // --- one step ---
    bool run_step(std::stop_token thread_stop);
    void begin_step();
    void end_step();
    void apply_settings();
    bool end_cancelled();
    void admit_waiting();
    std::vector<Share> plan_step();
    bool reserve_or_preempt(const Share& share);
    void compute(std::span<const Share> shares, const std::stop_token& thread_stop);
    Result<void> forward(std::span<const Share> shares, const std::stop_token& thread_stop);
    void deliver(std::span<const Share> shares);

    // --- the end of a generation ---
    std::unique_ptr<Generation> take_running(const Generation& generation);
    void finish(std::unique_ptr<Generation> generation, FinishReason reason);
    void fail(std::unique_ptr<Generation> generation, Status status);
    void forget(Generation& generation);

    void run_thread(const std::stop_token& stop);

    const std::unique_ptr<LanguageModel> model_;
    const std::unique_ptr<KvCache> cache_;
    const SchedulerOptions options_;
    std::vector<std::unique_ptr<Generation>> running_;  // oldest first; all older than those that wait
    ForwardBatch batch_;
    std::vector<float> logits_;  // [rows that want logits, vocab]

    mutable std::mutex mutex_;
    std::condition_variable_any changed_;  // is_stepping_, waiting_, the settings
    bool is_stepping_ = false;
    std::deque<std::unique_ptr<Generation>> waiting_;
    std::unordered_map<std::uint64_t, Generation*> live_;  // waiting or running
    std::optional<InFlight> in_flight_;
    bool clears_cache_ = false;
    std::optional<std::int32_t> num_threads_;
    SchedulerInfo info_;

    std::mutex thread_mutex_;  // start() and stop()
    std::jthread thread_;
};

}  // namespace glmchat
