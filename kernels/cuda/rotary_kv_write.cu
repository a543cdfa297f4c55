// The rotary stage on its own, for batches whose QKV projection went through cuBLAS, and the P-Tuning
// prefix.
//
//   (q'[2i], q'[2i+1]) = (q[2i] cos - q[2i+1] sin, q[2i+1] cos + q[2i] sin),  angle (position, i), i <
//   rotary_dim / 2 qkv [num_tokens, (heads + 2 kv_heads) * head_dim] float32, in place; keys and values also
//   to the paged cache
//
// One thread per pair of columns, grid (pairs / 256, tokens): a warp reads and writes 256 consecutive bytes.
// Query pairs beyond rotary_dim are copied onto themselves, which costs less than a grid that skips them.
// Bytes per token: qkv_cols * 8 (read and written) + 2 * kv_heads * head_dim * 2 into an FP16 cache.
#include <algorithm>

#include "kernels/cuda/kv_cache.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::int32_t kMaxGridRows = 65535;

LaunchCfg rows_and_pairs(std::int64_t rows, std::int64_t pairs, cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>(ceil_div(pairs, std::int64_t{kThreads})),
                    static_cast<unsigned>(std::min(rows, std::int64_t{kMaxGridRows})));
    return {grid, kThreads, 0, stream};
}

__global__ void __launch_bounds__(kThreads)
    rotary_kv_write_kernel(float* qkv, int qkv_cols, RotaryKvArguments arguments) {
    const int col = 2 * static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    if (col >= qkv_cols) return;
    for (int token = static_cast<int>(blockIdx.y); token < arguments.batch.num_tokens;
         token += static_cast<int>(gridDim.y)) {
        float* row = qkv + std::int64_t{token} * qkv_cols;
        finish_qkv_pair(arguments, token, col, row[col], row[col + 1], row);
    }
}

/// One row is a slot of one KV head.
__global__ void __launch_bounds__(kThreads)
    write_prefix_kv_kernel(KvCacheView cache, int layer, const std::int32_t* block_table, const float* keys,
                           const float* values, int num_rows) {
    const int dim = 2 * static_cast<int>(blockIdx.x * kThreads + threadIdx.x);
    if (dim >= cache.head_dim) return;
    for (int row = static_cast<int>(blockIdx.y); row < num_rows; row += static_cast<int>(gridDim.y)) {
        const int slot = row / cache.num_kv_heads;
        const int kv_head = row % cache.num_kv_heads;
        const std::int64_t source = std::int64_t{row} * cache.head_dim + dim;
        store_kv_pair(cache, kv_row(cache, layer, block_table, slot, kKeyPart, kv_head) + dim, keys[source],
                      keys[source + 1]);
        store_kv_pair(cache, kv_row(cache, layer, block_table, slot, kValuePart, kv_head) + dim,
                      values[source], values[source + 1]);
    }
}

}  // namespace

cudaError_t rotary_kv_write(float* qkv, const RotaryKvArguments& arguments, cudaStream_t stream) {
    const std::int64_t cols = arguments.shape.qkv_cols();
    if (arguments.batch.num_tokens == 0) return cudaSuccess;
    return launch(rotary_kv_write_kernel, rows_and_pairs(arguments.batch.num_tokens, cols / 2, stream), qkv,
                  static_cast<int>(cols), arguments);
}

cudaError_t write_prefix_kv(const KvCacheView& cache, std::int32_t layer, const std::int32_t* block_table,
                            const float* keys, const float* values, std::int32_t num_slots,
                            cudaStream_t stream) {
    const std::int64_t rows = std::int64_t{num_slots} * cache.num_kv_heads;
    if (rows == 0) return cudaSuccess;
    return launch(write_prefix_kv_kernel, rows_and_pairs(rows, cache.head_dim / 2, stream), cache, layer,
                  block_table, keys, values, static_cast<int>(rows));
}

}  // namespace glmchat::kernels::cuda
