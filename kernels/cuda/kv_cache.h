#pragma once

#include "kernels/cuda/ops.h"
#include "kernels/cuda/warp.h"

/// Device side of kernels/batch.h: where things lie in the paged cache, and what the rotary stage does with
/// a pair.
namespace glmchat::kernels::cuda {

inline constexpr int kKeyPart = 0;
inline constexpr int kValuePart = 1;

/// Element offset of the row of `slot` for one KV head, found through the sequence's block table.
__device__ inline std::int64_t kv_row(const KvCacheView& cache, int layer, const std::int32_t* block_table,
                                      int slot, int part, int kv_head) {
    const int block = block_table[slot / cache.block_size];
    const std::int64_t half = (std::int64_t{layer} * cache.num_blocks + block) * 2 + part;
    const std::int64_t row =
        (half * cache.num_kv_heads + kv_head) * cache.block_size + slot % cache.block_size;
    return row * cache.head_dim;
}

__device__ inline const std::int32_t* block_table_of(const DeviceBatch& batch, int token) {
    return batch.block_tables + std::int64_t{batch.sequence_ids[token]} * batch.max_blocks_per_sequence;
}

/// Stores two neighbouring elements at an even offset.
__device__ inline void store_kv_pair(const KvCacheView& cache, std::int64_t offset, float first,
                                     float second) {
    if (cache.type == ElementType::kFloat32) {
        float* elements = static_cast<float*>(cache.data) + offset;
        elements[0] = first;
        elements[1] = second;
    } else {
        *reinterpret_cast<__half2*>(static_cast<__half*>(cache.data) + offset) =
            __floats2half2_rn(first, second);
    }
}

/// What becomes of the columns (col, col + 1) of token `token`'s fused row [query heads | key heads | value
/// heads]: the leading rotary_dim elements of query and key heads are rotated in float32, the pair is stored
/// to `qkv_row`, keys and values also to the token's slot in the cache. col and head_dim are even.
__device__ inline void finish_qkv_pair(const RotaryKvArguments& arguments, int token, int col, float first,
                                       float second, float* qkv_row) {
    const AttentionShape& shape = arguments.shape;
    const int head = col / shape.head_dim;
    const int dim = col % shape.head_dim;
    if (head < shape.num_heads + shape.num_kv_heads && dim < arguments.rotary.rotary_dim) {
        const std::int64_t row = std::int64_t{arguments.batch.positions[token]} * arguments.rotary.rotary_dim;
        const float cos = arguments.rotary.cos_sin[row + dim];
        const float sin = arguments.rotary.cos_sin[row + dim + 1];
        const float rotated = first * cos - second * sin;
        second = second * cos + first * sin;
        first = rotated;
    }
    qkv_row[col] = first;
    qkv_row[col + 1] = second;
    if (head < shape.num_heads) return;
    const int part = head < shape.num_heads + shape.num_kv_heads ? kKeyPart : kValuePart;
    const int kv_head = head - shape.num_heads - part * shape.num_kv_heads;
    const std::int64_t offset =
        kv_row(arguments.cache, arguments.layer, block_table_of(arguments.batch, token),
               arguments.batch.kv_slots[token], part, kv_head);
    store_kv_pair(arguments.cache, offset + dim, first, second);
}

}  // namespace glmchat::kernels::cuda
