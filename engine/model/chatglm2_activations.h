#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/loader/model_config.h"
#include "kernels/tensor.h"

namespace glmchat {

/// The activations of one forward pass, laid one after another in one piece of backend memory.
struct ChatGlm2Activations {
    /// Rows that go through the output layer at a time: 64 * 65024 float32 logits are 16.6 MB; logits of
    /// every position of a long prompt would be gigabytes.
    static constexpr std::int64_t kLogitRows = 64;

    kernels::Tensor hidden_states;    ///< [num_tokens, hidden_size] the residual stream
    kernels::Tensor branch;           ///< [num_tokens, hidden_size] into and out of attention and MLP
    kernels::Tensor query_key_value;  ///< [num_tokens, qkv_rows]
    kernels::Tensor context;          ///< [num_tokens, num_attention_heads * kv_channels]
    kernels::Tensor gate_up;          ///< [num_tokens, 2 * ffn_hidden_size]
    kernels::Tensor ffn;              ///< [num_tokens, ffn_hidden_size]
    kernels::Tensor last_states;      ///< [kLogitRows, hidden_size] gathered rows
    kernels::Tensor logits;           ///< [kLogitRows, padded_vocab_size] float32
    std::size_t size_bytes = 0;       ///< of all together

    /// @param memory  size_bytes of backend memory, or null to learn size_bytes
    static ChatGlm2Activations place(const ModelConfig& config, std::int64_t num_tokens,
                                     kernels::ElementType type, void* memory);
};

}  // namespace glmchat
