#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "kernels/reference/kv_cache.h"
#include "kernels/reference/ops.h"

namespace glmchat::kernels::reference {
namespace {

void softmax(std::vector<float>& scores) {
    const float largest = *std::max_element(scores.begin(), scores.end());
    float sum = 0.0F;
    for (float& score : scores) {
        score = std::exp(score - largest);
        sum += score;
    }
    for (float& score : scores) score /= sum;
}

/// context = softmax(query . K / sqrt(head_dim)) V over slots 0..last_slot.
void attend(const float* query, const KvCacheView& cache, int layer, const std::int32_t* block_table,
            std::int32_t last_slot, std::int32_t kv_head, float* context) {
    const float scale = 1.0F / std::sqrt(static_cast<float>(cache.head_dim));
    std::vector<float> weights(static_cast<std::size_t>(last_slot) + 1);
    for (std::int32_t slot = 0; slot <= last_slot; ++slot) {
        const std::int64_t key = kv_row(cache, layer, block_table, slot, kKeyPart, kv_head);
        float dot = 0.0F;
        for (std::int32_t i = 0; i < cache.head_dim; ++i) dot += query[i] * load_kv(cache, key + i);
        weights[static_cast<std::size_t>(slot)] = dot * scale;
    }
    softmax(weights);
    std::fill(context, context + cache.head_dim, 0.0F);
    for (std::int32_t slot = 0; slot <= last_slot; ++slot) {
        const std::int64_t value = kv_row(cache, layer, block_table, slot, kValuePart, kv_head);
        for (std::int32_t i = 0; i < cache.head_dim; ++i) {
            context[i] += weights[static_cast<std::size_t>(slot)] * load_kv(cache, value + i);
        }
    }
}

}  // namespace

void attention(Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch, const KvCacheView& cache,
               int layer, Tensor context) {
    assert(qkv.rows == batch.num_tokens() && qkv.cols == shape.qkv_cols());
    assert(context.rows == qkv.rows && context.cols == shape.query_cols());
    const std::int32_t heads_per_kv_head = shape.num_heads / shape.num_kv_heads;
    for (std::int32_t t = 0; t < batch.num_tokens(); ++t) {
        const auto token = static_cast<std::size_t>(t);
        const std::int32_t* block_table =
            batch.block_tables.data() +
            std::int64_t{batch.sequence_ids[token]} * batch.max_blocks_per_sequence;
        for (std::int32_t head = 0; head < shape.num_heads; ++head) {
            const std::int64_t head_start = std::int64_t{head} * shape.head_dim;
            attend(qkv.as_float() + t * qkv.cols + head_start, cache, layer, block_table,
                   batch.kv_slots[token], head / heads_per_kv_head,
                   context.as_float() + t * context.cols + head_start);
        }
    }
}

}  // namespace glmchat::kernels::reference
