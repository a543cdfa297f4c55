#include "kernels/cpu/thread_pool.h"

#include <system_error>
#include <utility>

namespace glmchat::kernels {
namespace {

constexpr std::uint64_t kInsideMask = 0xFFFF;
constexpr std::uint64_t kOpen = 0x10000;
constexpr int kJobShift = 17;

std::uint64_t job_number(std::uint64_t state) {
    return state >> kJobShift;
}

// About 50 microseconds: longer than the serial work between two loops of a forward pass, far shorter than
// anyone would notice as load.
constexpr int kSpinRounds = 1500;

void pause_briefly() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// True as soon as `condition` holds, false when it still does not after the spin.
template <typename Condition>
bool spin_until(const Condition& condition) {
    for (int round = 0; round < kSpinRounds; ++round) {
        if (condition()) return true;
        pause_briefly();
    }
    return condition();
}

}  // namespace

ThreadPool::ThreadPool(int num_threads) {
    start_workers(num_threads - 1);
}

ThreadPool::~ThreadPool() {
    stop_workers();
}

void ThreadPool::set_num_threads(int num_threads) {
    if (num_threads == this->num_threads()) return;
    stop_workers();
    start_workers(num_threads - 1);
}

void ThreadPool::start_workers(int num_workers) {
    try {
        for (int worker = 1; worker <= num_workers; ++worker) {
            workers_.emplace_back([this, worker] { worker_main(worker); });
        }
    } catch (const std::system_error&) {
        // The system grants no further thread: the loops run on those there are, and num_threads() says how
        // many.
    }
}

void ThreadPool::stop_workers() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    job_opened_.notify_all();
    for (std::thread& worker : workers_) worker.join();
    workers_.clear();
    stopping_ = false;
}

void ThreadPool::run(const Job& job) {
    job_ = job;
    next_chunk_.store(0, std::memory_order_relaxed);
    const bool alone = workers_.empty() || job.num_chunks <= 1;
    if (!alone) {
        // Sequentially consistent with num_sleeping_: either we see the sleeper, or it sees the new job.
        state_.store(((job_number(state_.load(std::memory_order_relaxed)) + 1) << kJobShift) | kOpen);
        if (num_sleeping_.load() > 0) {
            const std::lock_guard lock(mutex_);
            job_opened_.notify_all();
        }
    }
    take_chunks(0);
    if (!alone) {
        state_.fetch_and(~kOpen, std::memory_order_acq_rel);
        wait_until_left();
    }
    if (first_error_) std::rethrow_exception(std::exchange(first_error_, nullptr));
}

void ThreadPool::take_chunks(int worker) {
    try {
        for (;;) {
            const std::int64_t chunk = next_chunk_.fetch_add(1, std::memory_order_relaxed);
            if (chunk >= job_.num_chunks) return;
            job_.call(job_.object, chunk, worker);
        }
    } catch (...) {
        next_chunk_.store(job_.num_chunks, std::memory_order_relaxed);
        const std::lock_guard lock(mutex_);
        if (!first_error_) first_error_ = std::current_exception();
    }
}

void ThreadPool::worker_main(int worker) {
    std::uint64_t last_job = job_number(state_.load());
    while (!stopping_) {
        if (join_job(last_job)) {
            take_chunks(worker);
            leave_job();
        }
        wait_for_job(last_job);
    }
}

bool ThreadPool::join_job(std::uint64_t& last_job) {
    std::uint64_t state = state_.load();
    while ((state & kOpen) != 0 && job_number(state) != last_job) {
        if (state_.compare_exchange_weak(state, state + 1, std::memory_order_acquire)) {
            last_job = job_number(state);
            return true;
        }
    }
    last_job = job_number(state);
    return false;
}

void ThreadPool::leave_job() {
    const std::uint64_t state = state_.fetch_sub(1) - 1;
    if ((state & (kOpen | kInsideMask)) == 0) {
        const std::lock_guard lock(mutex_);
        job_left_.notify_one();
    }
}

void ThreadPool::wait_for_job(std::uint64_t last_job) {
    const auto has_news = [&] { return stopping_ || job_number(state_.load()) != last_job; };
    if (spin_until(has_news)) return;
    std::unique_lock lock(mutex_);
    ++num_sleeping_;
    job_opened_.wait(lock, has_news);
    --num_sleeping_;
}

void ThreadPool::wait_until_left() {
    const auto all_left = [&] { return (state_.load() & kInsideMask) == 0; };
    if (spin_until(all_left)) return;
    std::unique_lock lock(mutex_);
    job_left_.wait(lock, all_left);
}

}  // namespace glmchat::kernels
