#include <cassert>
#include <cstring>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/rows.h"

namespace glmchat::kernels::cpu {
namespace {

/// Rotates adjacent pairs (2i, 2i+1) of the leading rotary_dim elements of one head.
void rotate_head(float* head, const float* cos_sin, std::int32_t rotary_dim) {
    for (std::int32_t i = 0; i < rotary_dim; i += 2) {
        const float first = head[i];
        const float second = head[i + 1];
        head[i] = first * cos_sin[i] - second * cos_sin[i + 1];
        head[i + 1] = second * cos_sin[i] + first * cos_sin[i + 1];
    }
}

/// Stores key and value rows [num_kv_heads, head_dim] at one slot.
void store_slot(const InnerKernels& kernels, const KvCacheView& cache, int layer,
                const std::int32_t* block_table, std::int32_t slot, const float* keys, const float* values) {
    const std::int32_t block = block_table[slot / cache.block_size];
    assert(block >= 0 && block < cache.num_blocks);
    const float* const parts[] = {keys, values};
    for (int part = 0; part < 2; ++part) {
        for (std::int32_t head = 0; head < cache.num_kv_heads; ++head) {
            const float* source = parts[part] + std::int64_t{head} * cache.head_dim;
            const std::int64_t target = cache.offset(layer, block, part, head, slot % cache.block_size);
            if (cache.type == ElementType::kFloat16) {
                kernels.store_halves(source, cache.head_dim,
                                     static_cast<std::uint16_t*>(cache.data) + target);
            } else {
                std::memcpy(static_cast<float*>(cache.data) + target, source,
                            element_bytes(ElementType::kFloat32, cache.head_dim));
            }
        }
    }
}

}  // namespace

void rotary_kv_write(Context& context, Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                     const RaggedBatch& batch, const KvCacheView& cache, int layer) {
    assert(qkv.rows == batch.num_tokens() && qkv.cols == shape.qkv_cols());
    assert(cache.num_kv_heads == shape.num_kv_heads && cache.head_dim == shape.head_dim);
    for_each_row(context.pool, qkv.rows, qkv.cols, [&](std::int64_t t) {
        const auto token = static_cast<std::size_t>(t);
        assert(batch.positions[token] >= 0 && batch.positions[token] < rotary.num_positions);
        float* row = qkv.as_float() + t * qkv.cols;
        const float* cos_sin = rotary.cos_sin + std::int64_t{batch.positions[token]} * rotary.rotary_dim;
        for (std::int32_t head = 0; head < shape.num_heads + shape.num_kv_heads; ++head) {
            rotate_head(row + std::int64_t{head} * shape.head_dim, cos_sin, rotary.rotary_dim);
        }
        const std::int32_t* block_table =
            batch.block_tables.data() +
            std::int64_t{batch.sequence_ids[token]} * batch.max_blocks_per_sequence;
        const float* keys = row + shape.query_cols();
        const float* values = keys + std::int64_t{shape.num_kv_heads} * shape.head_dim;
        store_slot(context.kernels, cache, layer, block_table, batch.kv_slots[token], keys, values);
    });
}

void write_prefix_kv(Context& context, const KvCacheView& cache, int layer,
                     std::span<const std::int32_t> block_table, const float* keys, const float* values,
                     std::int32_t num_slots) {
    assert(num_slots <= static_cast<std::int64_t>(block_table.size()) * cache.block_size);
    const std::int64_t slot_cols = std::int64_t{cache.num_kv_heads} * cache.head_dim;
    for (std::int32_t slot = 0; slot < num_slots; ++slot) {
        store_slot(context.kernels, cache, layer, block_table.data(), slot, keys + slot * slot_cols,
                   values + slot * slot_cols);
    }
}

}  // namespace glmchat::kernels::cpu
