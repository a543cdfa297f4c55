#include <cassert>

#include "kernels/reference/kv_cache.h"
#include "kernels/reference/ops.h"

namespace glmchat::kernels::reference {
namespace {

/// Rotates adjacent pairs (2i, 2i+1) of the leading rotary_dim elements of one head; the others pass through.
void rotate_head(float* head, const RotaryTable& rotary, std::int32_t position) {
    assert(position >= 0 && position < rotary.num_positions);
    const float* cos_sin = rotary.cos_sin + std::int64_t{position} * rotary.rotary_dim;
    for (std::int32_t i = 0; i < rotary.rotary_dim; i += 2) {
        const float cos = cos_sin[i];
        const float sin = cos_sin[i + 1];
        const float first = head[i];
        const float second = head[i + 1];
        head[i] = first * cos - second * sin;
        head[i + 1] = second * cos + first * sin;
    }
}

void store_head(const KvCacheView& cache, std::int64_t offset, const float* head) {
    for (std::int32_t i = 0; i < cache.head_dim; ++i) store_kv(cache, offset + i, head[i]);
}

}  // namespace

void rotary_kv_write(Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                     const RaggedBatch& batch, const KvCacheView& cache, int layer) {
    assert(qkv.rows == batch.num_tokens() && qkv.cols == shape.qkv_cols());
    assert(cache.num_kv_heads == shape.num_kv_heads && cache.head_dim == shape.head_dim);
    for (std::int32_t t = 0; t < batch.num_tokens(); ++t) {
        const auto token = static_cast<std::size_t>(t);
        float* row = qkv.as_float() + t * qkv.cols;
        for (std::int32_t head = 0; head < shape.num_heads + shape.num_kv_heads; ++head) {
            rotate_head(row + std::int64_t{head} * shape.head_dim, rotary, batch.positions[token]);
        }
        const std::int32_t* block_table =
            batch.block_tables.data() +
            std::int64_t{batch.sequence_ids[token]} * batch.max_blocks_per_sequence;
        const float* keys = row + shape.query_cols();
        const float* values = keys + std::int64_t{shape.num_kv_heads} * shape.head_dim;
        for (std::int32_t kv_head = 0; kv_head < shape.num_kv_heads; ++kv_head) {
            const std::int64_t head_start = std::int64_t{kv_head} * shape.head_dim;
            const std::int32_t slot = batch.kv_slots[token];
            store_head(cache, kv_row(cache, layer, block_table, slot, kKeyPart, kv_head), keys + head_start);
            store_head(cache, kv_row(cache, layer, block_table, slot, kValuePart, kv_head),
                       values + head_start);
        }
    }
}

void write_prefix_kv(const KvCacheView& cache, int layer, std::span<const std::int32_t> block_table,
                     const float* keys, const float* values, std::int32_t num_slots) {
    assert(num_slots <= static_cast<std::int64_t>(block_table.size()) * cache.block_size);
    for (std::int32_t slot = 0; slot < num_slots; ++slot) {
        for (std::int32_t kv_head = 0; kv_head < cache.num_kv_heads; ++kv_head) {
            const std::int64_t source = (std::int64_t{slot} * cache.num_kv_heads + kv_head) * cache.head_dim;
            store_head(cache, kv_row(cache, layer, block_table.data(), slot, kKeyPart, kv_head),
                       keys + source);
            store_head(cache, kv_row(cache, layer, block_table.data(), slot, kValuePart, kv_head),
                       values + source);
        }
    }
}

}  // namespace glmchat::kernels::reference
