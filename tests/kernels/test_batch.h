#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tests/kernels/test_data.h"

#include "kernels/batch.h"

namespace glmchat::test {

/// One sequence of a batch: `num_kept` slots are in the cache already, `num_new` tokens are computed now. Of
/// the kept slots `num_prefix` come from a P-Tuning prefix and have no position.
struct SequencePlan {
    std::int32_t num_kept = 0;
    std::int32_t num_new = 1;
    std::int32_t num_prefix = 0;
};

/// Owns the arrays of a RaggedBatch. Blocks are handed out in random order, as a cache in use would.
class TestBatch {
  public:
    TestBatch(const std::vector<SequencePlan>& sequences, std::int32_t block_size, RandomData& random);

    kernels::RaggedBatch view() const;
    std::int32_t num_blocks() const { return num_blocks_; }
    std::int32_t num_positions() const { return num_positions_; }

  private:
    std::vector<std::int32_t> token_ids_;
    std::vector<std::int32_t> positions_;
    std::vector<std::int32_t> sequence_ids_;
    std::vector<std::int32_t> kv_slots_;
    std::vector<std::int32_t> query_starts_;
    std::vector<std::int32_t> block_tables_;
    std::int32_t max_blocks_per_sequence_ = 0;
    std::int32_t num_blocks_ = 0;
    std::int32_t num_positions_ = 0;
};

}  // namespace glmchat::test
