#pragma once

#include <vector>

#include "engine/loader/model_config.h"
#include "engine/model/weight_loading.h"
#include "kernels/backend.h"

namespace glmchat {

/// One GLMBlock. Members carry the checkpoint's own names.
struct ChatGlm2Layer {
    kernels::Buffer input_layernorm;  ///< [hidden_size]
    kernels::LinearWeight
        query_key_value;  ///< [qkv_rows, hidden_size] = [query heads | key heads | value heads]
    kernels::Buffer query_key_value_bias;      ///< [qkv_rows]; empty without add_qkv_bias
    kernels::LinearWeight dense;               ///< [hidden_size, num_attention_heads * kv_channels]
    kernels::Buffer post_attention_layernorm;  ///< [hidden_size]
    kernels::LinearWeight dense_h_to_4h;       ///< [2 * ffn_hidden_size, hidden_size] = [gate | up]
    kernels::LinearWeight dense_4h_to_h;       ///< [hidden_size, ffn_hidden_size]
};

struct ChatGlm2Weights {
    kernels::LinearWeight word_embeddings;  ///< [padded_vocab_size, hidden_size]
    std::vector<ChatGlm2Layer> layers;
    kernels::Buffer final_layernorm;     ///< [hidden_size]
    kernels::LinearWeight output_layer;  ///< [padded_vocab_size, hidden_size]
};

/// Every tensor of the architecture, with its place in `weights` (which gets its layers here and must stay
/// where it is while the slots are used).
std::vector<WeightSlot> chatglm2_slots(const ModelConfig& config, ChatGlm2Weights& weights);

}  // namespace glmchat
