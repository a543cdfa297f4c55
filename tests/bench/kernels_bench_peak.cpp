#include "tests/bench/kernels_bench_peak.h"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace glmchat::bench {
namespace {

#if defined(__AVX512F__)
constexpr int kWidth = 16;
#elif defined(__AVX__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif
typedef float Vector __attribute__((vector_size(kWidth * sizeof(float))));

constexpr int kChains = 12;  // more than latency x units of any processor, fewer than registers
constexpr long kSteps = 20'000'000;

float run_chains() {
    const Vector factor = Vector{} + 0.999F;
    const Vector summand = Vector{} + 0.001F;
    Vector chains[kChains];
    for (int i = 0; i < kChains; ++i)
        chains[i] = Vector{} + static_cast<float>(i);  // else they would be merged into one
    for (long step = 0; step < kSteps; ++step) {
#pragma GCC unroll 12
        for (Vector& chain : chains) chain = chain * factor + summand;
    }
    float sum = 0.0F;
    for (const Vector& chain : chains) sum += chain[0];
    return sum;
}

}  // namespace

double measure_fma_peak(int num_threads) {
    std::atomic<float> sink{0.0F};  // keeps the chains from being optimised away
    const auto start = std::chrono::steady_clock::now();
    {
        std::vector<std::jthread> threads;
        for (int i = 0; i < num_threads; ++i) threads.emplace_back([&sink] { sink = run_chains(); });
    }
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return 2.0 * kWidth * kChains * static_cast<double>(kSteps) * num_threads / seconds;
}

}  // namespace glmchat::bench
