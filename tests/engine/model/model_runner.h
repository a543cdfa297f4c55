#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include "engine/model/language_model.h"
#include "kernels/backend.h"

namespace glmchat::test {

/// The value of a Result; a failed one ends the check with its message.
template <typename T>
T value_or_throw(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message + " [" + result.error().detail + "]");
    return std::move(*result);
}

/// Drives a model without a scheduler: a float32 KV cache with small blocks that are handed out in shuffled
/// order, so that every sequence crosses block borders and no two blocks of it lie side by side.
class ModelRunner {
  public:
    struct Input {
        std::int32_t sequence = 0;
        std::span<const std::int32_t> ids;
    };

    /// Writes the model's P-Tuning prefix into every sequence.
    /// @param max_tokens  per sequence, without the prefix
    ModelRunner(LanguageModel& model, std::int32_t num_sequences, std::int32_t max_tokens);

    /// Appends the inputs to their sequences in one ragged batch.
    /// @return logits of all rows, [sum of ids, vocab]
    Result<std::vector<float>> feed(const std::vector<Input>& inputs, ForwardOptions options = {});
    /// Forgets what a sequence holds after its prefix.
    void clear(std::int32_t sequence);

    /// Prefill of `ids` in chunks of `chunk_tokens`. @return logits of all positions. Throws on failure.
    std::vector<float> prefill(std::int32_t sequence, std::span<const std::int32_t> ids,
                               std::int32_t chunk_tokens);
    /// Prefill, then `num_new` greedy steps. Throws on failure.
    std::vector<std::int32_t> generate_greedy(std::int32_t sequence, std::span<const std::int32_t> ids,
                                              std::int32_t num_new);

  private:
    static constexpr std::int32_t kBlockSize = 4;

    LanguageModel& model_;
    std::int32_t blocks_per_sequence_;
    std::vector<std::int32_t> block_tables_;
    std::vector<std::int32_t> num_slots_;  ///< per sequence, prefix included
    kernels::Buffer cache_memory_;
    kernels::KvCacheView cache_;
};

/// Index of the largest logit of the last of the rows.
std::int32_t last_argmax(std::span<const float> logits, std::int32_t vocab_size);

}  // namespace glmchat::test
