#pragma once

#include <cstdint>
#include <span>

#include "kernels/tensor.h"

namespace glmchat::kernels {

/// Several sequences laid end to end. Prefill, chunked prefill, decode of one chat and decode of several chats at once are
/// this one structure with other numbers. All arrays are host memory and live until the forward pass has returned.
struct RaggedBatch {
    std::span<const std::int32_t> token_ids;     ///< [num_tokens]
    std::span<const std::int32_t> positions;     ///< [num_tokens] rotary position (a P-Tuning prefix takes none)
    std::span<const std::int32_t> sequence_ids;  ///< [num_tokens] row of block_tables
    /// [num_tokens] place of the token in its sequence's KV cache, prefix included. The token attends to slots
    /// 0..kv_slots[t] of its sequence and to nothing else: causal, also on top of a kept prefix.
    std::span<const std::int32_t> kv_slots;
    std::span<const std::int32_t> query_starts;  ///< [num_sequences + 1] rows of sequence s: [s] .. [s + 1) - 1
    std::span<const std::int32_t> block_tables;  ///< [num_sequences, max_blocks_per_sequence] block numbers
    std::int32_t max_blocks_per_sequence = 0;

    std::int32_t num_tokens() const { return static_cast<std::int32_t>(token_ids.size()); }
    std::int32_t num_sequences() const { return static_cast<std::int32_t>(query_starts.size()) - 1; }
};

/// The paged key/value cache of all layers, in backend memory.
/// Layout: [num_layers][num_blocks][2: key, value][num_kv_heads][block_size][head_dim].
/// Slot s of a sequence lies in block block_table[s / block_size] at row s % block_size.
struct KvCacheView {
    void* data = nullptr;
    ElementType type = ElementType::kFloat32;  ///< kFloat32 or kFloat16
    std::int32_t num_layers = 0;
    std::int32_t num_blocks = 0;
    std::int32_t block_size = 0;  ///< slots per block
    std::int32_t num_kv_heads = 0;
    std::int32_t head_dim = 0;

    /// Elements of one key (or value) block of one layer: [num_kv_heads][block_size][head_dim].
    std::int64_t half_block_elements() const {
        return std::int64_t{num_kv_heads} * block_size * head_dim;
    }
    /// Element offset of row `slot_in_block` of `kv_head` in a block; value_part 0 = key, 1 = value.
    std::int64_t offset(int layer, int block, int value_part, int kv_head, int slot_in_block) const {
        const std::int64_t half = (std::int64_t{layer} * num_blocks + block) * 2 + value_part;
        return half * half_block_elements() + (std::int64_t{kv_head} * block_size + slot_in_block) * head_dim;
    }
    std::size_t bytes_per_block() const {  ///< of one block over all layers, keys and values
        return element_bytes(type, 2 * half_block_elements()) * static_cast<std::size_t>(num_layers);
    }
};

/// Heads of multi-query attention. Query head h reads KV head h / (num_heads / num_kv_heads).
struct AttentionShape {
    std::int32_t num_heads = 0;
    std::int32_t num_kv_heads = 0;
    std::int32_t head_dim = 0;

    /// Columns of a fused row [all query heads | key heads | value heads].
    std::int64_t qkv_cols() const { return std::int64_t{num_heads + 2 * num_kv_heads} * head_dim; }
    std::int64_t query_cols() const { return std::int64_t{num_heads} * head_dim; }
};

/// cos and sin of the rotary angles, float32, in backend memory. Made by compute_rotary_table (kernels/rotary.h).
struct RotaryTable {
    const float* cos_sin = nullptr;  ///< [num_positions, rotary_dim / 2, 2]
    std::int32_t num_positions = 0;
    std::int32_t rotary_dim = 0;  ///< leading dims of a head that are rotated, in adjacent pairs (2i, 2i+1)
};

}  // namespace glmchat::kernels
