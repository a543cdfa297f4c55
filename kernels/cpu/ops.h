#pragma once

#include <cstdint>
#include <span>

#include "kernels/batch.h"
#include "kernels/cpu/inner_kernels.h"
#include "kernels/cpu/scratch.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/tensor.h"

/// The ops of Backend as free functions: they cut the work into chunks for the pool and give each to an inner
/// kernel. Contracts and shapes are those of kernels/backend.h. No result depends on the number of threads: a
/// chunk never shares a sum with another one, and where attention splits a long context, the cut depends on
/// the batch only.
namespace glmchat::kernels::cpu {

struct Context {
    const InnerKernels& kernels;
    ThreadPool pool;
    Scratch scratch;
};

void embedding(Context& context, const LinearWeight& table, const RaggedBatch& batch, Tensor hidden_states);
void rms_norm(Context& context, Tensor x, const float* weight, float eps, Tensor y);
void add_rms_norm(Context& context, Tensor residual, Tensor delta, const float* weight, float eps, Tensor y);
void add(Context& context, Tensor residual, Tensor delta);
void linear(Context& context, Tensor x, const LinearWeight& weight, const float* bias, Tensor y);
void rotary_kv_write(Context& context, Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                     const RaggedBatch& batch, const KvCacheView& cache, int layer);
void attention(Context& context, Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch,
               const KvCacheView& cache, int layer, Tensor output);
void swiglu(Context& context, Tensor gate_up, Tensor y);
void gather_rows(Context& context, Tensor x, std::span<const std::int32_t> rows, Tensor y);
void write_prefix_kv(Context& context, const KvCacheView& cache, int layer,
                     std::span<const std::int32_t> block_table, const float* keys, const float* values,
                     std::int32_t num_slots);

}  // namespace glmchat::kernels::cpu
