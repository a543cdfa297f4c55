#pragma once

#include <cstdint>
#include <vector>

#include "engine/loader/checkpoint.h"
#include "engine/loader/model_config.h"
#include "engine/status.h"
#include "kernels/backend.h"

namespace glmchat {

/// Keys and values of a P-Tuning v2 prefix for every layer: learned past keys and values, used as stored (not
/// rotated).
struct PrefixKeyValues {
    std::int32_t length = 0;  ///< pre_seq_len; 0 = no prefix
    /// Host memory, [num_layers * 2: k0, v0, k1, v1, …][length][num_kv_heads * head_dim]
    std::vector<float> values;
    std::int64_t row_size = 0;  ///< num_kv_heads * head_dim

    const float* keys_of(std::int32_t layer) const { return part(2 * layer); }
    const float* values_of(std::int32_t layer) const { return part(2 * layer + 1); }

  private:
    const float* part(std::int32_t index) const {
        return values.data() + std::int64_t{index} * length * row_size;
    }
};

/// Reads `transformer.prefix_encoder.*` of `checkpoint` and runs it once: the embedding itself, or with
/// prefix_projection trans.2(tanh(trans.0(embedding))).
/// @param config  of the model, with the prefix's pre_seq_len and prefix_projection
/// Errors: kBadFile for a missing tensor, wrong shape or wrong type. Throws what the backend throws.
Result<PrefixKeyValues> load_prefix(const Checkpoint& checkpoint, const ModelConfig& config,
                                    kernels::Backend& backend);

}  // namespace glmchat
