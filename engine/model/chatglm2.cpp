#include "engine/model/chatglm2.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/model/backend_status.h"
#include "engine/model/weight_conversion.h"
#include "kernels/rotary.h"

namespace glmchat {

using kernels::Backend;
using kernels::ElementType;
using kernels::KvCacheView;
using kernels::RaggedBatch;
using kernels::Tensor;

Result<std::unique_ptr<LanguageModel>> ChatGlm2::create(const ModelConfig& config,
                                                        std::unique_ptr<Backend> backend,
                                                        WeightSource& source,
                                                        const Checkpoint* prefix_checkpoint,
                                                        const ModelLoadOptions& options) {
    std::unique_ptr<ChatGlm2> model(new ChatGlm2(config, std::move(backend)));
    const Result<std::size_t> weight_bytes =
        load_weights(chatglm2_slots(config, model->weights_), source, *model->backend_, options);
    if (!weight_bytes) return tl::unexpected(weight_bytes.error());
    model->weight_bytes_ = *weight_bytes;
    if (config.pre_seq_len != 0) {
        Result<PrefixKeyValues> prefix = load_prefix(*prefix_checkpoint, config, *model->backend_);
        if (!prefix) return tl::unexpected(prefix.error());
        model->prefix_ = std::move(*prefix);
    }
    model->upload_rotary_table(options.max_positions == 0 ? config.seq_length : options.max_positions);
    return model;
}

void ChatGlm2::upload_rotary_table(std::int32_t num_positions) {
    const std::vector<float> cos_sin = kernels::compute_rotary_table(
        num_positions, config_.rotary_dim(), config_.rotary_base, config_.rotary_position_divisor);
    rotary_memory_ = backend_->allocate(cos_sin.size() * sizeof(float));
    backend_->upload(rotary_memory_.data(), cos_sin.data(), rotary_memory_.size_bytes());
    backend_->synchronize();  // cos_sin goes out of scope
    rotary_ = {rotary_memory_.as_float(), num_positions, config_.rotary_dim()};
}

Precision ChatGlm2::precision() const {
    switch (weights_.layers.front().dense.type) {
        case ElementType::kFloat32:
            return Precision::kFloat32;
        case ElementType::kInt8:
            return Precision::kInt8;
        case ElementType::kInt4:
            return Precision::kInt4;
        case ElementType::kFloat16:
        case ElementType::kBFloat16:
            break;
    }
    return Precision::kFloat16;
}

Result<void> ChatGlm2::forward(const RaggedBatch& batch, const KvCacheView& cache,
                               const ForwardOptions& options, std::span<float> logits) {
    if (Result<void> valid = check(batch, cache, options.logit_rows, logits); !valid) return valid;
    if (batch.num_tokens() == 0) return {};
    return with_errors_as_status([&] { return run(batch, cache, options, logits); });
}

Result<void> ChatGlm2::run(const RaggedBatch& batch, const KvCacheView& cache, const ForwardOptions& options,
                           std::span<float> logits) {
    const ChatGlm2Activations x = activations(batch.num_tokens());
    backend_->begin_forward(batch);
    backend_->embedding(weights_.word_embeddings, batch, x.hidden_states);  // [num_tokens, hidden_size]
    report_hidden_states(0, x.hidden_states, options);
    for (std::int32_t layer = 0; layer < config_.num_layers; ++layer) {
        if (options.stop.stop_requested())
            return failure(StatusKind::kCancelled, "The computation was stopped.");
        glm_block(layer, x, batch, cache);
        report_hidden_states(layer + 1, x.hidden_states, options);
    }
    compute_logits(x, options.logit_rows, logits.data());
    backend_->synchronize();  // a device failure of this pass is reported by this pass
    return {};
}

void ChatGlm2::glm_block(std::int32_t layer, const ChatGlm2Activations& x, const RaggedBatch& batch,
                         const KvCacheView& cache) {
    const ChatGlm2Layer& w = weights_.layers[static_cast<std::size_t>(layer)];
    const kernels::AttentionShape heads{config_.num_attention_heads, config_.multi_query_group_num,
                                        config_.kv_channels};
    const float eps = config_.layernorm_epsilon;
    const float* const no_bias = nullptr;
    Backend& b = *backend_;

    b.rms_norm(x.hidden_states, w.input_layernorm.as_float(), eps, x.branch);  // [num_tokens, hidden_size]
    b.linear(x.branch, w.query_key_value, w.query_key_value_bias.as_float(),
             x.query_key_value);  // [num_tokens, (heads + 2 * groups) * head_dim]
    b.rotary_kv_write(x.query_key_value, heads, rotary_, batch, cache, layer);
    b.attention(x.query_key_value, heads, batch, cache, layer, x.context);  // [num_tokens, heads * head_dim]
    b.linear(x.context, w.dense, no_bias, x.branch);                        // [num_tokens, hidden_size]

    b.add_rms_norm(x.hidden_states, x.branch, w.post_attention_layernorm.as_float(), eps,
                   x.branch);                                 // [num_tokens, hidden_size]
    b.linear(x.branch, w.dense_h_to_4h, no_bias, x.gate_up);  // [num_tokens, 2 * ffn_hidden_size]
    b.swiglu(x.gate_up, x.ffn);                               // [num_tokens, ffn_hidden_size]
    b.linear(x.ffn, w.dense_4h_to_h, no_bias, x.branch);      // [num_tokens, hidden_size]
    b.add(x.hidden_states, x.branch);                         // [num_tokens, hidden_size]
}

void ChatGlm2::compute_logits(const ChatGlm2Activations& x, std::span<const std::int32_t> rows,
                              float* logits) {
    while (!rows.empty()) {
        const std::size_t num_rows =
            std::min(rows.size(), static_cast<std::size_t>(ChatGlm2Activations::kLogitRows));
        const Tensor states = x.last_states.row_slice(0, static_cast<std::int64_t>(num_rows));
        const Tensor scores = x.logits.row_slice(0, static_cast<std::int64_t>(num_rows));
        backend_->gather_rows(x.hidden_states, rows.first(num_rows), states);  // [num_rows, hidden_size]
        backend_->rms_norm(states, weights_.final_layernorm.as_float(), config_.layernorm_epsilon, states);
        backend_->linear(states, weights_.output_layer, nullptr, scores);  // [num_rows, padded_vocab_size]
        const std::size_t num_scores = num_rows * static_cast<std::size_t>(config_.padded_vocab_size);
        backend_->download(logits, scores.data, num_scores * sizeof(float));
        logits += num_scores;
        rows = rows.subspan(num_rows);
    }
}

ChatGlm2Activations ChatGlm2::activations(std::int64_t num_tokens) {
    constexpr std::int64_t kGrowthTokens = 64;  // spares a new allocation for each slightly larger batch
    const ElementType type = backend_->activation_type();
    const std::int64_t room_for = (num_tokens + kGrowthTokens - 1) / kGrowthTokens * kGrowthTokens;
    const std::size_t size_bytes = ChatGlm2Activations::place(config_, room_for, type, nullptr).size_bytes;
    if (activation_memory_.size_bytes() < size_bytes) {
        activation_memory_ = {};  // before the larger one, so that never both are held
        activation_memory_ = backend_->allocate(size_bytes);
    }
    return ChatGlm2Activations::place(config_, num_tokens, type, activation_memory_.data());
}

void ChatGlm2::report_hidden_states(std::int32_t layer, Tensor hidden_states, const ForwardOptions& options) {
    if (!options.on_hidden_states) return;
    const std::int64_t count = hidden_states.rows * hidden_states.cols;
    std::vector<std::byte> stored(kernels::element_bytes(hidden_states.type, count));
    backend_->download(stored.data(), hidden_states.data, stored.size());
    std::vector<float> values(static_cast<std::size_t>(count));
    widen_to_float(stored.data(), hidden_states.type, count, values.data());
    options.on_hidden_states(layer, values);
}

Result<void> ChatGlm2::check(const RaggedBatch& batch, const KvCacheView& cache,
                             std::span<const std::int32_t> logit_rows, std::span<float> logits) const {
    for (const std::int32_t id : batch.token_ids) {
        if (id < 0 || id >= config_.padded_vocab_size) {
            return failure(StatusKind::kInvalidArgument,
                           fmt::format("Token id {} is outside the vocabulary of {} ids.", id,
                                       config_.padded_vocab_size));
        }
    }
    for (const std::int32_t position : batch.positions) {
        if (position < 0 || position >= rotary_.num_positions) {
            return failure(
                StatusKind::kInvalidArgument,
                fmt::format("Position {} is beyond the {} positions the model was loaded for; shorten the "
                            "text or load it with a longer context.",
                            position, rotary_.num_positions));
        }
    }
    // The rest is our own scheduler's work; a slip there must not become a write outside the cache.
    const auto out_of_batch = [&](std::int32_t row) { return row < 0 || row >= batch.num_tokens(); };
    const bool wrong_logits =
        std::any_of(logit_rows.begin(), logit_rows.end(), out_of_batch) ||
        logits.size() != logit_rows.size() * static_cast<std::size_t>(config_.padded_vocab_size);
    const bool wrong_cache = cache.num_layers != config_.num_layers ||
                             cache.num_kv_heads != config_.multi_query_group_num ||
                             cache.head_dim != config_.kv_channels;
    const std::int64_t num_slots = std::int64_t{batch.max_blocks_per_sequence} * cache.block_size;
    const auto beyond_table = [&](std::int32_t slot) { return slot < 0 || slot >= num_slots; };
    const bool wrong_slot = std::any_of(batch.kv_slots.begin(), batch.kv_slots.end(), beyond_table);
    if (wrong_logits || wrong_cache || wrong_slot) {
        return failure(StatusKind::kInternal,
                       "A batch does not fit its cache or its logits; please report this.",
                       fmt::format("logits {}, cache {}, slots {}", wrong_logits, wrong_cache, wrong_slot));
    }
    return {};
}

Result<void> ChatGlm2::write_prefix(const KvCacheView& cache, std::span<const std::int32_t> block_table) {
    if (prefix_.length == 0) return {};
    return with_errors_as_status([&]() -> Result<void> {
        for (std::int32_t layer = 0; layer < config_.num_layers; ++layer) {
            backend_->write_prefix_kv(cache, layer, block_table, prefix_.keys_of(layer),
                                      prefix_.values_of(layer), prefix_.length);
        }
        return {};
    });
}

}  // namespace glmchat
