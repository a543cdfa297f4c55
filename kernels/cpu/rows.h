#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/cpu/thread_pool.h"

namespace glmchat::kernels::cpu {

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
    return (a + b - 1) / b;
}
constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
    return ceil_div(value, multiple) * multiple;
}

/// Calls body(row) for every row, on several threads when there are enough elements to be worth waking them.
template <typename Body>
void for_each_row(ThreadPool& pool, std::int64_t rows, std::int64_t cols, const Body& body) {
    constexpr std::int64_t kElementsPerChunk = 16384;  // some microseconds of streaming work
    const std::int64_t rows_per_chunk =
        std::max<std::int64_t>(1, kElementsPerChunk / std::max<std::int64_t>(1, cols));
    pool.parallel_for(ceil_div(rows, rows_per_chunk), [&](std::int64_t chunk, int /*worker*/) {
        const std::int64_t first = chunk * rows_per_chunk;
        const std::int64_t end = std::min(rows, first + rows_per_chunk);
        for (std::int64_t row = first; row < end; ++row) body(row);
    });
}

}  // namespace glmchat::kernels::cpu
