#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "tests/kernels/check_parts.h"
#include "tests/kernels/test_data.h"

#include "kernels/cpu/thread_pool.h"

namespace glmchat::test {
namespace {

using kernels::ThreadPool;

/// Empty when every chunk ran exactly once and no worker was in two chunks at a time.
std::string run_counted(ThreadPool& pool, std::int64_t num_chunks) {
    std::vector<int> runs(static_cast<std::size_t>(num_chunks), 0);  // plain: a chunk is one thread's alone
    std::vector<std::atomic<bool>> busy(static_cast<std::size_t>(pool.num_threads()));
    std::atomic<bool> shared_worker{false};
    pool.parallel_for(num_chunks, [&](std::int64_t chunk, int worker) {
        if (busy[static_cast<std::size_t>(worker)].exchange(true)) shared_worker = true;
        ++runs[static_cast<std::size_t>(chunk)];
        busy[static_cast<std::size_t>(worker)] = false;
    });
    if (shared_worker) return "two chunks shared a worker number";
    for (const int count : runs) {
        if (count != 1) return "a chunk ran " + std::to_string(count) + " times";
    }
    return {};
}

CheckResult check_every_chunk_once() {
    RandomData random(7);
    ThreadPool pool(4);
    for (int round = 0; round < 3000; ++round) {
        const std::string error = run_counted(pool, random.integer(0, 40));
        if (!error.empty()) return failed("round " + std::to_string(round) + ": " + error);
    }
    return passed();
}

/// Workers that have gone to sleep come back.
CheckResult check_after_sleep() {
    ThreadPool pool(3);
    for (int round = 0; round < 20; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(round % 3));
        const std::string error = run_counted(pool, 30);
        if (!error.empty()) return failed(error);
    }
    return passed();
}

CheckResult check_changing_threads() {
    RandomData random(8);
    ThreadPool pool(1);
    for (int round = 0; round < 60; ++round) {
        const int num_threads = random.integer(1, 6);
        pool.set_num_threads(num_threads);
        if (pool.num_threads() != num_threads) return failed("num_threads");
        const std::string error = run_counted(pool, 25);
        if (!error.empty()) return failed(error);
    }
    return passed();
}

/// An exception of any chunk, on any thread, reaches the caller, and the pool works on.
CheckResult check_exceptions() {
    ThreadPool pool(4);
    for (int round = 0; round < 200; ++round) {
        bool caught = false;
        try {
            pool.parallel_for(50, [&](std::int64_t chunk, int) {
                if (chunk == round % 50) throw std::runtime_error("chunk");
            });
        } catch (const std::runtime_error&) {
            caught = true;
        }
        if (!caught) return failed("the exception was lost");
        const std::string error = run_counted(pool, 10);
        if (!error.empty()) return failed("afterwards: " + error);
    }
    return passed();
}

/// Several pools on threads of their own: nothing is shared behind the scenes.
CheckResult check_pools_side_by_side() {
    std::atomic<int> failures{0};
    {
        std::vector<std::jthread> owners;
        for (int owner = 0; owner < 3; ++owner) {
            owners.emplace_back([&failures] {
                ThreadPool pool(3);
                for (int round = 0; round < 300; ++round) {
                    if (!run_counted(pool, 12).empty()) ++failures;
                }
            });
        }
    }
    return failures == 0 ? passed() : failed(std::to_string(failures) + " loops went wrong");
}

}  // namespace

std::vector<Check> thread_pool_checks() {
    return {
        {"thread pool/every chunk once", check_every_chunk_once},
        {"thread pool/after sleep", check_after_sleep},
        {"thread pool/changing the number of threads", check_changing_threads},
        {"thread pool/exceptions reach the caller", check_exceptions},
        {"thread pool/several pools side by side", check_pools_side_by_side},
    };
}

}  // namespace glmchat::test
