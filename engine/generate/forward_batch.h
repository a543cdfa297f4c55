#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/batch.h"

namespace glmchat {

/// The arrays behind one RaggedBatch, filled sequence by sequence. Reused from step to step.
class ForwardBatch {
  public:
    /// @param prefix_length  slots of the P-Tuning prefix: they take no position
    explicit ForwardBatch(std::int32_t prefix_length) : prefix_length_(prefix_length) {}

    void clear();
    /// Adds rows for `token_ids`, which follow `num_before` tokens of their sequence. @param block_table
    /// lives as long as the batch. @param wants_logits  of the last row
    void add(std::span<const std::int32_t> token_ids, std::int32_t num_before,
             std::span<const std::int32_t> block_table, bool wants_logits);

    /// A view that is valid until the next clear() or add().
    kernels::RaggedBatch view();
    std::span<const std::int32_t> logit_rows() const { return logit_rows_; }

  private:
    const std::int32_t prefix_length_;
    std::vector<std::int32_t> token_ids_;
    std::vector<std::int32_t> positions_;
    std::vector<std::int32_t> sequence_ids_;
    std::vector<std::int32_t> kv_slots_;
    std::vector<std::int32_t> query_starts_ = {0};
    std::vector<std::span<const std::int32_t>> tables_;
    std::vector<std::int32_t> block_tables_;  // tables_, padded to the longest
    std::vector<std::int32_t> logit_rows_;
};

/// How many tokens of its prompt each sequence computes in one step: `budget` tokens in all, shared so that
/// short prompts get through beside long ones: nobody gets more than an even share while another is left
/// wanting, everybody at least one.
/// @param num_pending  tokens each sequence still has to compute, at least 1
std::vector<std::int32_t> share_prefill(std::span<const std::int32_t> num_pending, std::int32_t budget);

}  // namespace glmchat
