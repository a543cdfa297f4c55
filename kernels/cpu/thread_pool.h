#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace glmchat::kernels {

/// Persistent workers that share the chunks of one loop at a time.
/// The calling thread works too, and waits at the end only for workers that have taken a chunk: one that the
/// system has not yet woken, or has preempted before it joined, delays nobody. Workers spin briefly after a
/// loop, because the next one follows within microseconds during a forward pass, then sleep and cost nothing.
/// Thread: owned and called by one thread at a time.
class ThreadPool {
  public:
    /// The caller included, at least 1; fewer when the system grants no more, see num_threads().
    explicit ThreadPool(int num_threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int num_threads() const { return static_cast<int>(workers_.size()) + 1; }
    void set_num_threads(int num_threads);

    /// Calls body(chunk, worker) once for each chunk in [0, num_chunks), in any order and on any thread;
    /// worker is in [0, num_threads()) and no two calls running at the same time share one. Returns when all
    /// have finished. The first exception of a body ends the loop early and is rethrown here.
    template <typename Body>
    void parallel_for(std::int64_t num_chunks, Body&& body) {
        using Plain = std::remove_reference_t<Body>;
        const auto call = [](void* object, std::int64_t chunk, int worker) {
            (*static_cast<Plain*>(object))(chunk, worker);
        };
        run({call, const_cast<void*>(static_cast<const void*>(std::addressof(body))), num_chunks});
    }

  private:
    struct Job {
        void (*call)(void* object, std::int64_t chunk, int worker) = nullptr;
        void* object = nullptr;
        std::int64_t num_chunks = 0;
    };

    void run(const Job& job);
    void start_workers(int num_workers);
    void stop_workers();
    void worker_main(int worker);
    void take_chunks(int worker);
    bool join_job(std::uint64_t& last_job);
    void leave_job();
    void wait_for_job(std::uint64_t last_job);
    void wait_until_left();

    std::vector<std::thread> workers_;

    // job_ is written before a job is opened in state_ and read only by those who have joined it.
    Job job_;
    alignas(64) std::atomic<std::int64_t> next_chunk_{0};
    /// [job number | open bit | number of workers inside]: one word, so that joining and closing exclude each
    /// other.
    alignas(64) std::atomic<std::uint64_t> state_{0};

    std::atomic<bool> stopping_{false};
    std::atomic<int> num_sleeping_{0};
    std::mutex mutex_;                    ///< guards the sleeping below and first_error_
    std::condition_variable job_opened_;  ///< or stopping_
    std::condition_variable job_left_;
    std::exception_ptr first_error_;
};

}  // namespace glmchat::kernels
