#include "engine/model/chatglm2_weights.h"

#include <cstddef>
#include <string>

#include <fmt/format.h>

namespace glmchat {

std::vector<WeightSlot> chatglm2_slots(const ModelConfig& config, ChatGlm2Weights& weights) {
    const std::int64_t hidden_size = config.hidden_size;
    const std::int64_t ffn_hidden_size = config.ffn_hidden_size;
    const std::int64_t context_size = std::int64_t{config.num_attention_heads} * config.kv_channels;
    const std::int64_t vocab_size = config.padded_vocab_size;

    std::vector<WeightSlot> slots;
    const auto linear = [&](const std::string& name, std::int64_t out_features, std::int64_t in_features,
                            kernels::LinearWeight& weight) {
        slots.push_back({WeightRole::kLayerLinear, name + ".weight", out_features, in_features, &weight});
    };
    const auto table = [&](const std::string& name, kernels::LinearWeight& weight) {
        slots.push_back({WeightRole::kTable, name + ".weight", vocab_size, hidden_size, &weight});
    };
    const auto vector = [&](const std::string& name, std::int64_t count, kernels::Buffer& buffer) {
        slots.push_back({WeightRole::kVector, name, count, 1, &buffer});
    };

    table("transformer.embedding.word_embeddings", weights.word_embeddings);
    weights.layers.resize(static_cast<std::size_t>(config.num_layers));
    std::int32_t index = 0;
    for (ChatGlm2Layer& layer : weights.layers) {
        const std::string prefix = fmt::format("transformer.encoder.layers.{}.", index++);
        vector(prefix + "input_layernorm.weight", hidden_size, layer.input_layernorm);
        linear(prefix + "self_attention.query_key_value", config.qkv_rows(), hidden_size,
               layer.query_key_value);
        if (config.add_qkv_bias) {
            vector(prefix + "self_attention.query_key_value.bias", config.qkv_rows(),
                   layer.query_key_value_bias);
        }
        linear(prefix + "self_attention.dense", hidden_size, context_size, layer.dense);
        vector(prefix + "post_attention_layernorm.weight", hidden_size, layer.post_attention_layernorm);
        linear(prefix + "mlp.dense_h_to_4h", 2 * ffn_hidden_size, hidden_size, layer.dense_h_to_4h);
        linear(prefix + "mlp.dense_4h_to_h", hidden_size, ffn_hidden_size, layer.dense_4h_to_h);
    }
    vector("transformer.encoder.final_layernorm.weight", hidden_size, weights.final_layernorm);
    table("transformer.output_layer", weights.output_layer);
    return slots;
}

}  // namespace glmchat
