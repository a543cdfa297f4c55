#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/batch.h"
#include "kernels/tensor.h"

/// The ops of Backend on a CUDA device, one file each. Contracts and shapes are those of kernels/backend.h;
/// all pointers are device memory, activations are float32 and 16-byte aligned, every call is asynchronous
/// on `stream` and returns what the launch returned. Nothing is allocated and nothing waits, so that every
/// call can be captured into a CUDA graph; whatever differs from one decode step to the next (ids,
/// positions, slots, block tables) is read from device memory.
///
/// Activations are float32 because they are small: a decode step of ChatGLM2-6B reads 3.4 to 12 GB of
/// weights and moves 28 layers * about 0.3 MB of activations, most of it within the second-level cache. In
/// return nothing overflows, whatever the checkpoint's type, and every kernel can be compared with the
/// reference directly.
namespace glmchat::kernels::cuda {

/// LinearWeight without its owner: what a kernel gets by value.
struct WeightView {
    ElementType type = ElementType::kFloat32;
    ElementType scale_type = ElementType::kFloat16;
    ScaleLayout scale_layout = ScaleLayout::kNone;
    const void* data = nullptr;
    const void* scales = nullptr;
    std::int32_t out_features = 0;
    std::int32_t in_features = 0;
    std::int32_t group_size = 0;
    std::int32_t groups_per_row = 0;  ///< 0 unless kPerGroup
};
WeightView view_of(const LinearWeight& weight);

/// Rows of one sequence that attention computes together: tokens first_token .. first_token + num_tokens -
/// 1.
struct AttentionTile {
    std::int32_t first_token = 0;
    std::int32_t num_tokens = 0;
};

/// A RaggedBatch in device memory.
struct DeviceBatch {
    const std::int32_t* token_ids = nullptr;
    const std::int32_t* positions = nullptr;
    const std::int32_t* sequence_ids = nullptr;
    const std::int32_t* kv_slots = nullptr;
    const std::int32_t* block_tables = nullptr;
    const AttentionTile* tiles = nullptr;
    std::int32_t num_tokens = 0;
    std::int32_t max_blocks_per_sequence = 0;
    std::int32_t num_tiles = 0;
};

/// Everything rotary embedding and the KV write of one layer need.
struct RotaryKvArguments {
    AttentionShape shape;
    RotaryTable rotary;
    DeviceBatch batch;
    KvCacheView cache;
    std::int32_t layer = 0;
};

// --- rms_norm.cu ---

/// y[i] = rms_norm(x[row_ids[i]]); without row_ids y[i] = rms_norm(x[i]). y may be x when row_ids is null.
cudaError_t rms_norm(const float* x, const std::int32_t* row_ids, const float* weight, float eps, float* y,
                     std::int32_t rows, std::int32_t cols, cudaStream_t stream);
/// residual += delta, then y = rms_norm(residual). y may be delta.
cudaError_t add_rms_norm(float* residual, const float* delta, const float* weight, float eps, float* y,
                         std::int32_t rows, std::int32_t cols, cudaStream_t stream);

// --- elementwise.cu ---

cudaError_t embedding(const WeightView& table, const DeviceBatch& batch, float* hidden_states,
                      cudaStream_t stream);
cudaError_t add(float* residual, const float* delta, std::int64_t count, cudaStream_t stream);
cudaError_t swiglu(const float* gate_up, float* y, std::int32_t rows, std::int32_t ffn, cudaStream_t stream);
cudaError_t gather_rows(const float* x, const std::int32_t* row_ids, float* y, std::int32_t rows,
                        std::int32_t cols, cudaStream_t stream);

// --- rotary_kv_write.cu ---

cudaError_t rotary_kv_write(float* qkv, const RotaryKvArguments& arguments, cudaStream_t stream);
/// Keys and values of a P-Tuning prefix, float32 DEVICE memory [num_slots, num_kv_heads, head_dim], to the
/// slots 0..num_slots-1 of the sequence with this block table.
cudaError_t write_prefix_kv(const KvCacheView& cache, std::int32_t layer, const std::int32_t* block_table,
                            const float* keys, const float* values, std::int32_t num_slots,
                            cudaStream_t stream);

// --- linear: linear_gemv.cu (any shape), linear_mma.cu (aligned shapes on tensor cores) ---

/// What becomes of the products x W^T, while they are still in registers.
enum class LinearOutput : std::uint8_t {
    kStore,     ///< y [rows, out_features] = x W^T + bias
    kSwiglu,    ///< y [rows, out_features / 2] = silu(x Wgate^T) * (x Wup^T); W = [gate | up], no bias
    kRotaryKv,  ///< y [rows, qkv_cols] = x W^T + bias, then rotary_kv_write; out_features = qkv_cols,
                ///< head_dim even
};

struct LinearArguments {
    WeightView weight;
    const float* x = nullptr;     ///< [rows, in_features]
    const float* bias = nullptr;  ///< [out_features] or null
    float* y = nullptr;
    std::int32_t rows = 0;
    LinearOutput output = LinearOutput::kStore;
    RotaryKvArguments rotary_kv;  ///< for kRotaryKv
};

/// Any weight, any shape, any number of rows; reads the weight once per four rows.
cudaError_t linear_gemv(const LinearArguments& arguments, cudaStream_t stream);

inline constexpr std::int32_t kMaxMmaRows = 16;
/// Whether linear_mma takes this weight: FP16, INT8 or INT4, in_features and groups whole multiples of 128,
/// 16-byte aligned.
bool linear_mma_supports(const WeightView& weight);
/// 1 to kMaxMmaRows rows; reads the weight once.
cudaError_t linear_mma(const LinearArguments& arguments, cudaStream_t stream);

// --- linear.cpp ---

/// Whether linear() takes an output other than kStore for so many rows: as long as one launch does it all.
bool linear_can_finish(const LinearArguments& arguments);
/// The fastest kernel for the weight and the number of rows. kStore for any number of rows.
cudaError_t linear(const LinearArguments& arguments, cudaStream_t stream);

// --- attention: attention_generic.cu (any head, any cache), attention_mma.cu (FP16 cache on tensor cores)
// ---

struct AttentionArguments {
    const float* qkv = nullptr;  ///< [num_tokens, qkv_cols], as left by rotary_kv_write
    float* context = nullptr;    ///< [num_tokens, query_cols]
    AttentionShape shape;
    DeviceBatch batch;
    KvCacheView cache;
    std::int32_t layer = 0;
    std::int32_t num_splits = 1;  ///< parts the slots of a tile are cut into
    float* partials = nullptr;    ///< attention_partial_floats() of memory when num_splits > 1
};

cudaError_t attention_generic(const AttentionArguments& arguments, cudaStream_t stream);

/// Tokens that share a tile in attention_mma: as many as fill 16 rows with the query heads of one KV head.
std::int32_t attention_tokens_per_tile(const AttentionShape& shape);
bool attention_mma_supports(const AttentionShape& shape, const KvCacheView& cache);
std::int64_t attention_partial_floats(const AttentionShape& shape, std::int32_t num_tiles,
                                      std::int32_t num_splits);
cudaError_t attention_mma(const AttentionArguments& arguments, cudaStream_t stream);

}  // namespace glmchat::kernels::cuda
