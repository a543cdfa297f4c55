#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "engine/model/language_model.h"
#include "engine/status.h"

namespace glmchat {

/// Teacher-forced pass over one id list with a KV cache of its own: for `glmchat-cli logits` and for
/// measuring accuracy.
struct EvaluateOptions {
    std::int32_t chunk_tokens =
        256;  ///< tokens per forward pass; the result does not depend on it but for rounding
    std::stop_token stop;
    std::function<void(std::int32_t num_done, std::int32_t num_total)> on_progress;
};

/// @return logits [ids.size(), padded_vocab_size], float32
/// Errors: kInvalidArgument (no ids, id out of the table), kContextFull (longer than seq_length),
/// kOutOfMemory, kCancelled.
Result<std::vector<float>> evaluate_logits(LanguageModel& model, std::span<const std::int32_t> ids,
                                           const EvaluateOptions& options = {});

}  // namespace glmchat
