#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/loader/checkpoint.h"
#include "engine/status.h"

namespace glmchat {

enum class ModelFamily : std::uint8_t { kChatGlm2 };

/// config.json of a model folder, checked. Fields carry the checkpoint's own names. Values this version does not implement
/// are refused by name when read, so the forward pass has no such branches.
struct ModelConfig {
    ModelFamily family = ModelFamily::kChatGlm2;
    std::string name;  ///< `_name_or_path`, else "model"
    std::int32_t num_layers = 0;
    std::int32_t hidden_size = 0;
    std::int32_t ffn_hidden_size = 0;
    std::int32_t num_attention_heads = 0;
    std::int32_t multi_query_group_num = 0;  ///< KV heads
    std::int32_t kv_channels = 0;            ///< head size
    std::int32_t padded_vocab_size = 0;
    std::int32_t seq_length = 0;  ///< longest trained context, tokens
    float layernorm_epsilon = 1e-5F;
    bool add_qkv_bias = true;
    DataType torch_dtype = DataType::kFloat16;
    std::int32_t quantization_bit = 0;  ///< 0, 4 or 8: official quantised checkpoint
    std::int32_t pre_seq_len = 0;       ///< P-Tuning v2 prefix length, 0 = none
    bool prefix_projection = false;
    float rotary_base = 10000.0F;
    float rotary_position_divisor = 1.0F;  ///< ChatGLM2-32k: rope_ratio
    std::int32_t eos_token_id = 2;

    std::int32_t rotary_dim() const { return kv_channels / 2; }
    std::int64_t qkv_rows() const {
        return std::int64_t{num_attention_heads + 2 * multi_query_group_num} * kv_channels;
    }
};

/// @param json       text of config.json, untrusted
/// @param file_name  for messages
Result<ModelConfig> parse_model_config(std::string_view json, std::string_view file_name);
Result<ModelConfig> read_model_config(const std::filesystem::path& folder);

}  // namespace glmchat
