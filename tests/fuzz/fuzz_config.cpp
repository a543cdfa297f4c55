#include <string_view>

#include "tests/fuzz/loader_fuzz_support.h"

#include "engine/loader/model_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace glmchat;
    const auto config = parse_model_config({reinterpret_cast<const char*>(data), size}, "config.json");
    if (!config) {
        test::require(config.error().message.ends_with('.') && config.error().message.size() < 1000);
        return 0;
    }
    // What the model's code builds on.
    test::require(config->num_layers > 0 && config->hidden_size > 0 && config->ffn_hidden_size > 0 &&
                  config->seq_length > 0);
    test::require(config->multi_query_group_num > 0 &&
                  config->num_attention_heads % config->multi_query_group_num == 0);
    test::require(config->kv_channels % 4 == 0 && config->qkv_rows() > 0);
    test::require(config->eos_token_id >= 0 && config->eos_token_id < config->padded_vocab_size);
    test::require(config->layernorm_epsilon > 0.0F && config->rotary_position_divisor >= 1.0F &&
                  config->pre_seq_len >= 0);
    return 0;
}
