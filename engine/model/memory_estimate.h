#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/loader/model_config.h"
#include "engine/model/language_model.h"
#include "kernels/tensor.h"

namespace glmchat {

/// What a model takes, computed from its config alone (`glmchat-cli info`, and before a download or a load).

/// Bytes of the prepared weights: sum over all tensors of rows * cols * bits / 8, plus 2 bytes per scale (one
/// per row of an official checkpoint; one per group and row when quantised on load), norms and biases at 4
/// bytes. Embedding and output layer stay at 16 bits under int8 and int4. kAuto is what the checkpoint
/// stores. ChatGLM2-6B: fp16 12.5 GB, int8 6.9 GB, int4 4.0 GB.
std::size_t estimate_weight_bytes(const ModelConfig& config, Precision precision);

/// Bytes of the KV cache per token: num_layers * 2 (key, value) * multi_query_group_num * kv_channels *
/// element bytes. ChatGLM2-6B in float16: 28 * 2 * 2 * 128 * 2 = 28 KiB.
/// @param kv_type  kFloat32 or kFloat16
std::size_t kv_bytes_per_token(const ModelConfig& config, kernels::ElementType kv_type);

/// Bytes of the activation buffers for batches of up to `num_tokens` tokens: per token
/// 2 * hidden + (heads + 2 * groups) * head_dim + heads * head_dim + 3 * ffn elements, and for up to
/// kLogitRows rows at a time the gathered hidden states and float32 logits.
std::size_t estimate_activation_bytes(const ModelConfig& config, std::int64_t num_tokens,
                                      kernels::ElementType activation_type);

}  // namespace glmchat
