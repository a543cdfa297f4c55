#include "kernels/machine_probe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace glmchat::kernels {
namespace {

constexpr int kNumPasses = 3;

/// Independent accumulators, so that the loads, not the additions, are what is measured.
std::uint64_t sum_words(const std::vector<std::uint64_t>& words) {
    std::array<std::uint64_t, 16> sums{};
    for (std::size_t i = 0; i + sums.size() <= words.size(); i += sums.size()) {
        for (std::size_t lane = 0; lane < sums.size(); ++lane) sums[lane] += words[i + lane];
    }
    std::uint64_t total = 0;
    for (const std::uint64_t sum : sums) total += sum;
    return total;
}

}  // namespace

double measure_read_bandwidth(int num_threads, std::size_t bytes_per_thread) {
    using Clock = std::chrono::steady_clock;
    const std::size_t num_words = bytes_per_thread / sizeof(std::uint64_t);
    std::atomic<std::uint64_t> checksum{0};  // keeps the sums from being optimised away
    std::barrier everyone(num_threads + 1);
    std::vector<std::jthread> readers;
    for (int i = 0; i < num_threads; ++i) {
        readers.emplace_back([&] {
            const std::vector<std::uint64_t> words(num_words, 1);
            for (int pass = 0; pass < kNumPasses; ++pass) {
                everyone.arrive_and_wait();
                checksum += sum_words(words);
                everyone.arrive_and_wait();
            }
        });
    }
    double best_seconds = 0;
    for (int pass = 0; pass < kNumPasses; ++pass) {
        everyone.arrive_and_wait();
        const auto start = Clock::now();
        everyone.arrive_and_wait();
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        best_seconds = pass == 0 ? seconds : std::min(best_seconds, seconds);
    }
    return static_cast<double>(num_words * sizeof(std::uint64_t)) * num_threads / best_seconds;
}

}  // namespace glmchat::kernels
