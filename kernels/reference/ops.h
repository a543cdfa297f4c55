#pragma once

#include <cstdint>
#include <span>

#include "kernels/batch.h"
#include "kernels/tensor.h"

/// The ops of Backend as free functions, one file each; contracts and shapes are those of kernels/backend.h.
namespace glmchat::kernels::reference {

void embedding(const LinearWeight& table, const RaggedBatch& batch, Tensor hidden_states);
void rms_norm(Tensor x, const float* weight, float eps, Tensor y);
void add_rms_norm(Tensor residual, Tensor delta, const float* weight, float eps, Tensor y);
void add(Tensor residual, Tensor delta);
void linear(Tensor x, const LinearWeight& weight, const float* bias, Tensor y);
void rotary_kv_write(Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                     const RaggedBatch& batch, const KvCacheView& cache, int layer);
void attention(Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch, const KvCacheView& cache,
               int layer, Tensor context);
void swiglu(Tensor gate_up, Tensor y);
void gather_rows(Tensor x, std::span<const std::int32_t> rows, Tensor y);
void write_prefix_kv(const KvCacheView& cache, int layer, std::span<const std::int32_t> block_table,
                     const float* keys, const float* values, std::int32_t num_slots);

}  // namespace glmchat::kernels::reference
