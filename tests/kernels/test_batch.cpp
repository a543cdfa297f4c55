#include "tests/kernels/test_batch.h"

#include <algorithm>
#include <numeric>

namespace glmchat::test {

TestBatch::TestBatch(const std::vector<SequencePlan>& sequences, std::int32_t block_size,
                     RandomData& random) {
    const auto blocks_of = [block_size](const SequencePlan& plan) {
        return (plan.num_kept + plan.num_new + block_size - 1) / block_size;
    };
    for (const SequencePlan& plan : sequences) {
        max_blocks_per_sequence_ = std::max(max_blocks_per_sequence_, blocks_of(plan));
        num_blocks_ += blocks_of(plan);
    }
    num_blocks_ += 1;  // one that belongs to nobody
    std::vector<std::int32_t> free_blocks(static_cast<std::size_t>(num_blocks_));
    std::iota(free_blocks.begin(), free_blocks.end(), 0);
    std::shuffle(free_blocks.begin(), free_blocks.end(), random.engine());

    query_starts_.push_back(0);
    for (std::size_t sequence = 0; sequence < sequences.size(); ++sequence) {
        const SequencePlan& plan = sequences[sequence];
        for (std::int32_t i = 0; i < plan.num_new; ++i) {
            const std::int32_t slot = plan.num_kept + i;
            token_ids_.push_back(random.integer(0, 9));
            positions_.push_back(slot - plan.num_prefix);
            sequence_ids_.push_back(static_cast<std::int32_t>(sequence));
            kv_slots_.push_back(slot);
            num_positions_ = std::max(num_positions_, slot - plan.num_prefix + 1);
        }
        query_starts_.push_back(static_cast<std::int32_t>(token_ids_.size()));
        for (std::int32_t i = 0; i < max_blocks_per_sequence_; ++i) {
            const bool used = i < blocks_of(plan);
            block_tables_.push_back(used ? free_blocks.back() : -1);  // -1: must never be looked at
            if (used) free_blocks.pop_back();
        }
    }
}

kernels::RaggedBatch TestBatch::view() const {
    return {token_ids_,    positions_,    sequence_ids_,           kv_slots_,
            query_starts_, block_tables_, max_blocks_per_sequence_};
}

}  // namespace glmchat::test
