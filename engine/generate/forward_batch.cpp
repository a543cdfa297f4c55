#include "engine/generate/forward_batch.h"

#include <algorithm>
#include <numeric>

namespace glmchat {

void ForwardBatch::clear() {
    token_ids_.clear();
    positions_.clear();
    sequence_ids_.clear();
    kv_slots_.clear();
    query_starts_.assign(1, 0);
    tables_.clear();
    logit_rows_.clear();
}

void ForwardBatch::add(std::span<const std::int32_t> token_ids, std::int32_t num_before,
                       std::span<const std::int32_t> block_table, bool wants_logits) {
    const auto sequence = static_cast<std::int32_t>(tables_.size());
    std::int32_t position = num_before;
    for (const std::int32_t id : token_ids) {
        token_ids_.push_back(id);
        positions_.push_back(position);
        sequence_ids_.push_back(sequence);
        kv_slots_.push_back(prefix_length_ + position);
        ++position;
    }
    const auto num_rows = static_cast<std::int32_t>(token_ids_.size());
    query_starts_.push_back(num_rows);
    tables_.push_back(block_table);
    if (wants_logits) logit_rows_.push_back(num_rows - 1);
}

kernels::RaggedBatch ForwardBatch::view() {
    std::size_t longest = 0;
    for (const auto& table : tables_) longest = std::max(longest, table.size());
    block_tables_.assign(tables_.size() * longest, 0);
    for (std::size_t sequence = 0; sequence < tables_.size(); ++sequence) {
        std::ranges::copy(tables_[sequence],
                          block_tables_.begin() + static_cast<std::ptrdiff_t>(sequence * longest));
    }
    kernels::RaggedBatch batch;
    batch.token_ids = token_ids_;
    batch.positions = positions_;
    batch.sequence_ids = sequence_ids_;
    batch.kv_slots = kv_slots_;
    batch.query_starts = query_starts_;
    batch.block_tables = block_tables_;
    batch.max_blocks_per_sequence = static_cast<std::int32_t>(longest);
    return batch;
}

std::vector<std::int32_t> share_prefill(std::span<const std::int32_t> num_pending, std::int32_t budget) {
    std::vector<std::size_t> shortest_first(num_pending.size());
    std::iota(shortest_first.begin(), shortest_first.end(), std::size_t{0});
    std::ranges::stable_sort(shortest_first, {}, [&](std::size_t index) { return num_pending[index]; });

    std::vector<std::int32_t> shares(num_pending.size());
    auto num_left = static_cast<std::int32_t>(num_pending.size());
    std::int32_t tokens_left = std::max(budget, num_left);
    for (const std::size_t index : shortest_first) {  // what a short one leaves over, the longer ones share
        shares[index] = std::min(num_pending[index], tokens_left / num_left);
        tokens_left -= shares[index];
        --num_left;
    }
    return shares;
}

}  // namespace glmchat
