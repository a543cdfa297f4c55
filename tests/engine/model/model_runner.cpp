#include "tests/engine/model/model_runner.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace glmchat::test {

ModelRunner::ModelRunner(LanguageModel& model, std::int32_t num_sequences, std::int32_t max_tokens)
    : model_(model),
      blocks_per_sequence_((model.prefix_length() + max_tokens + kBlockSize - 1) / kBlockSize),
      block_tables_(static_cast<std::size_t>(num_sequences * blocks_per_sequence_)),
      num_slots_(static_cast<std::size_t>(num_sequences), model.prefix_length()) {
    std::iota(block_tables_.begin(), block_tables_.end(), 0);
    std::shuffle(block_tables_.begin(), block_tables_.end(), std::mt19937(11));  // any fixed seed

    const ModelConfig& config = model.config();
    cache_.type = kernels::ElementType::kFloat32;
    cache_.num_layers = config.num_layers;
    cache_.num_blocks = static_cast<std::int32_t>(block_tables_.size());
    cache_.block_size = kBlockSize;
    cache_.num_kv_heads = config.multi_query_group_num;
    cache_.head_dim = config.kv_channels;
    cache_memory_ =
        model.backend().allocate(cache_.bytes_per_block() * static_cast<std::size_t>(cache_.num_blocks));
    cache_.data = cache_memory_.data();

    const std::span<const std::int32_t> tables(block_tables_);
    const auto table_size = static_cast<std::size_t>(blocks_per_sequence_);
    for (std::size_t first = 0; first < tables.size(); first += table_size) {
        if (Result<void> written = model.write_prefix(cache_, tables.subspan(first, table_size)); !written) {
            throw std::runtime_error(written.error().message);
        }
    }
}

Result<std::vector<float>> ModelRunner::feed(const std::vector<Input>& inputs, ForwardOptions options) {
    std::vector<std::int32_t> ids;
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t> sequence_ids;
    std::vector<std::int32_t> slots;
    std::vector<std::int32_t> query_starts{0};
    std::vector<std::int32_t> block_tables;
    for (const Input& input : inputs) {
        const auto row = static_cast<std::int32_t>(query_starts.size()) - 1;
        std::int32_t slot = num_slots_[static_cast<std::size_t>(input.sequence)];
        for (const std::int32_t id : input.ids) {
            ids.push_back(id);
            positions.push_back(slot - model_.prefix_length());
            sequence_ids.push_back(row);
            slots.push_back(slot++);
        }
        query_starts.push_back(static_cast<std::int32_t>(ids.size()));
        const auto table = block_tables_.begin() + input.sequence * blocks_per_sequence_;
        block_tables.insert(block_tables.end(), table, table + blocks_per_sequence_);
    }
    std::vector<std::int32_t> all_rows(ids.size());
    std::iota(all_rows.begin(), all_rows.end(), 0);
    options.logit_rows = all_rows;

    std::vector<float> logits(ids.size() * static_cast<std::size_t>(model_.config().padded_vocab_size));
    const kernels::RaggedBatch batch{ids,          positions,    sequence_ids,        slots,
                                     query_starts, block_tables, blocks_per_sequence_};
    if (Result<void> done = model_.forward(batch, cache_, options, logits); !done) {
        return tl::unexpected(done.error());
    }
    for (const Input& input : inputs) {
        num_slots_[static_cast<std::size_t>(input.sequence)] += static_cast<std::int32_t>(input.ids.size());
    }
    return logits;
}

void ModelRunner::clear(std::int32_t sequence) {
    num_slots_[static_cast<std::size_t>(sequence)] = model_.prefix_length();
}

std::vector<float> ModelRunner::prefill(std::int32_t sequence, std::span<const std::int32_t> ids,
                                        std::int32_t chunk_tokens) {
    std::vector<float> all_logits;
    while (!ids.empty()) {
        const auto chunk = ids.first(std::min(ids.size(), static_cast<std::size_t>(chunk_tokens)));
        const std::vector<float> logits = value_or_throw(feed({{sequence, chunk}}));
        all_logits.insert(all_logits.end(), logits.begin(), logits.end());
        ids = ids.subspan(chunk.size());
    }
    return all_logits;
}

std::vector<std::int32_t> ModelRunner::generate_greedy(std::int32_t sequence,
                                                       std::span<const std::int32_t> ids,
                                                       std::int32_t num_new) {
    const std::int32_t vocab_size = model_.config().padded_vocab_size;
    std::vector<std::int32_t> new_ids{last_argmax(value_or_throw(feed({{sequence, ids}})), vocab_size)};
    while (static_cast<std::int32_t>(new_ids.size()) < num_new) {
        const std::int32_t last_id = new_ids.back();
        const std::vector<float> logits = value_or_throw(feed({{sequence, {&last_id, 1}}}));
        new_ids.push_back(last_argmax(logits, vocab_size));
    }
    return new_ids;
}

std::int32_t last_argmax(std::span<const float> logits, std::int32_t vocab_size) {
    const auto last = logits.last(static_cast<std::size_t>(vocab_size));
    return static_cast<std::int32_t>(std::max_element(last.begin(), last.end()) - last.begin());
}

}  // namespace glmchat::test
