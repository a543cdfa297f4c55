// The stages that only move or combine numbers. All are bound by memory, or for a single row by the launch.
//
//   embedding    hidden_states[t][c] = table[token_ids[t]][c] * scale      grid (columns / 256, tokens)
//   add          residual[i] += delta[i]                                   one thread per 4 elements
//   swiglu       y[r][c] = silu(gate_up[r][c]) * gate_up[r][ffn + c]       grid (columns / 256, rows)
//   gather_rows  y[i][c] = x[row_ids[i]][c]                                grid (columns / 256, rows)
//
// Consecutive threads take consecutive columns: every request of a warp is 128 consecutive bytes (64 of a
// 16-bit table). Bytes: embedding reads tokens * hidden * (0.5 to 4) and writes tokens * hidden * 4; add
// reads 8 and writes 4 per element; swiglu reads 8 and writes 4 per element; gather reads and writes 4.
#include <algorithm>

#include "kernels/cuda/ops.h"
#include "kernels/cuda/warp.h"
#include "kernels/cuda/weight_view.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int32_t kMaxGridRows = 65535;  // of gridDim.y

__device__ int this_col() {
    return static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
}

/// Rows that this block handles: blockIdx.y, blockIdx.y + gridDim.y, … as the grid has at most 65535.
template <typename Function>
__device__ void for_each_row(int rows, Function function) {
    for (int row = static_cast<int>(blockIdx.y); row < rows; row += static_cast<int>(gridDim.y))
        function(row);
}

LaunchCfg rows_and_cols(std::int32_t rows, std::int32_t cols, cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>(ceil_div(cols, kThreads)),
                    static_cast<unsigned>(std::min(rows, kMaxGridRows)));
    return {grid, kThreads, 0, stream};
}

__global__ void __launch_bounds__(kThreads)
    embedding_kernel(WeightView table, const std::int32_t* token_ids, int num_tokens, float* hidden_states) {
    const int col = this_col();
    if (col >= table.in_features) return;
    for_each_row(num_tokens, [&](int token) {
        const int id = token_ids[token];
        hidden_states[std::int64_t{token} * table.in_features + col] =
            stored_value(table, id, col) * row_scale(table, id) * group_scale(table, id, col);
    });
}

__global__ void __launch_bounds__(kThreads)
    add_kernel(float* residual, const float* delta, std::int64_t count) {
    const std::int64_t first = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * 4;
    if (first + 4 <= count) {
        Float4 sum = load_float4(residual + first);
        const Float4 more = load_float4(delta + first);
#pragma unroll
        for (int i = 0; i < 4; ++i) sum.value[i] += more.value[i];
        store_float4(residual + first, sum);
        return;
    }
    for (std::int64_t i = first; i < count; ++i) residual[i] += delta[i];
}

__global__ void __launch_bounds__(kThreads) swiglu_kernel(const float* gate_up, float* y, int rows, int ffn) {
    const int col = this_col();
    if (col >= ffn) return;
    for_each_row(rows, [&](int row) {
        const float* gate = gate_up + std::int64_t{row} * 2 * ffn + col;
        y[std::int64_t{row} * ffn + col] = silu(gate[0]) * gate[ffn];
    });
}

__global__ void __launch_bounds__(kThreads)
    gather_rows_kernel(const float* x, const std::int32_t* row_ids, float* y, int rows, int cols) {
    const int col = this_col();
    if (col >= cols) return;
    for_each_row(rows, [&](int row) {
        y[std::int64_t{row} * cols + col] = x[std::int64_t{row_ids[row]} * cols + col];
    });
}

}  // namespace

cudaError_t embedding(const WeightView& table, const DeviceBatch& batch, float* hidden_states,
                      cudaStream_t stream) {
    if (batch.num_tokens == 0) return cudaSuccess;
    return launch(embedding_kernel, rows_and_cols(batch.num_tokens, table.in_features, stream), table,
                  batch.token_ids, batch.num_tokens, hidden_states);
}

cudaError_t add(float* residual, const float* delta, std::int64_t count, cudaStream_t stream) {
    if (count == 0) return cudaSuccess;
    const auto blocks = static_cast<unsigned>(ceil_div(count, std::int64_t{4 * kThreads}));
    return launch(add_kernel, {blocks, kThreads, 0, stream}, residual, delta, count);
}

cudaError_t swiglu(const float* gate_up, float* y, std::int32_t rows, std::int32_t ffn, cudaStream_t stream) {
    if (rows == 0) return cudaSuccess;
    return launch(swiglu_kernel, rows_and_cols(rows, ffn, stream), gate_up, y, rows, ffn);
}

cudaError_t gather_rows(const float* x, const std::int32_t* row_ids, float* y, std::int32_t rows,
                        std::int32_t cols, cudaStream_t stream) {
    if (rows == 0) return cudaSuccess;
    return launch(gather_rows_kernel, rows_and_cols(rows, cols, stream), x, row_ids, y, rows, cols);
}

}  // namespace glmchat::kernels::cuda
