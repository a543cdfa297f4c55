#include "engine/model/chatglm2_activations.h"

namespace glmchat {

ChatGlm2Activations ChatGlm2Activations::place(const ModelConfig& config, std::int64_t num_tokens,
                                               kernels::ElementType type, void* memory) {
    constexpr std::size_t kAlignment = 256;  // what GPU loads and every SIMD width want
    ChatGlm2Activations all;
    const auto take = [&](kernels::ElementType element_type, std::int64_t rows, std::int64_t cols) {
        void* data = memory == nullptr ? nullptr : static_cast<std::byte*>(memory) + all.size_bytes;
        const std::size_t bytes = kernels::element_bytes(element_type, rows * cols);
        all.size_bytes += (bytes + kAlignment - 1) / kAlignment * kAlignment;
        return kernels::Tensor{data, element_type, rows, cols};
    };
    const std::int64_t ffn_hidden_size = config.ffn_hidden_size;
    all.hidden_states = take(type, num_tokens, config.hidden_size);
    all.branch = take(type, num_tokens, config.hidden_size);
    all.query_key_value = take(type, num_tokens, config.qkv_rows());
    all.context = take(type, num_tokens, std::int64_t{config.num_attention_heads} * config.kv_channels);
    all.gate_up = take(type, num_tokens, 2 * ffn_hidden_size);
    all.ffn = take(type, num_tokens, ffn_hidden_size);
    all.last_states = take(type, kLogitRows, config.hidden_size);
    all.logits = take(kernels::ElementType::kFloat32, kLogitRows, config.padded_vocab_size);
    return all;
}

}  // namespace glmchat
