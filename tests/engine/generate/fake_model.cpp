#include "tests/engine/generate/fake_model.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace glmchat::test {
namespace {

constexpr std::int32_t kHeadDim = 2;
constexpr std::uint32_t kStart = 12345;

/// What stands for a history and one more id, below 2^24 so that float32 holds it exactly.
std::uint32_t extend(std::uint32_t history, std::int32_t id) {
    std::uint32_t mixed = (history + static_cast<std::uint32_t>(id + 70000) * 2654435761u);
    mixed = (mixed ^ (mixed >> 15)) * 0x2C1B3C6Du;
    return (mixed ^ (mixed >> 12)) & 0xFFFFFFu;
}

std::int32_t prefix_id(std::int32_t slot) {
    return -100 - slot;
}

void require(bool condition, const char* what) {
    if (!condition) throw std::logic_error(std::string("batch: ") + what);
}

/// Key and value row of a slot.
struct SlotRows {
    float* key;
    float* value;
};

SlotRows slot_rows(const kernels::KvCacheView& cache, std::span<const std::int32_t> block_table, int layer,
                   std::int32_t slot) {
    const auto block_index = static_cast<std::size_t>(slot / cache.block_size);
    require(block_index < block_table.size(), "slot beyond the block table");
    const std::int32_t block = block_table[block_index];
    require(block >= 0 && block < cache.num_blocks, "block number out of range");
    auto* data = static_cast<float*>(cache.data);
    return {data + cache.offset(layer, block, 0, 0, slot % cache.block_size),
            data + cache.offset(layer, block, 1, 0, slot % cache.block_size)};
}

/// The history that the slots before and including `slot` hold, read through the cache as attention would.
std::uint32_t read_history(const kernels::KvCacheView& cache, std::span<const std::int32_t> block_table,
                           std::int32_t slot) {
    std::uint32_t history = kStart;
    for (std::int32_t at = 0; at <= slot; ++at) {
        history = extend(history, static_cast<std::int32_t>(slot_rows(cache, block_table, 0, at).key[0]));
        const auto kept = static_cast<std::uint32_t>(slot_rows(cache, block_table, 1, at).value[1]);
        if (at < slot) history = (history ^ (kept * 31u)) & 0xFFFFFFu;
    }
    return history;
}

/// The same from ids alone. `kept` of a slot is the history before its own id was mixed with what follows.
std::uint32_t history_of(std::span<const std::int32_t> slot_ids) {
    std::uint32_t history = kStart;
    for (std::size_t at = 0; at < slot_ids.size(); ++at) {
        history = extend(history, slot_ids[at]);
        const std::uint32_t kept = history;
        if (at + 1 < slot_ids.size()) history = (history ^ (kept * 31u)) & 0xFFFFFFu;
    }
    return history;
}

void check_rows(const kernels::RaggedBatch& batch, std::int32_t prefix_length) {
    const auto num_tokens = static_cast<std::size_t>(batch.num_tokens());
    require(num_tokens > 0, "no rows");
    require(batch.positions.size() == num_tokens && batch.sequence_ids.size() == num_tokens &&
                batch.kv_slots.size() == num_tokens,
            "arrays of different length");
    require(batch.query_starts.front() == 0 && batch.query_starts.back() == batch.num_tokens(),
            "query_starts");
    for (std::int32_t sequence = 0; sequence < batch.num_sequences(); ++sequence) {
        const auto index = static_cast<std::size_t>(sequence);
        for (auto row = static_cast<std::size_t>(batch.query_starts[index]);
             row < static_cast<std::size_t>(batch.query_starts[index + 1]); ++row) {
            require(batch.sequence_ids[row] == sequence, "sequence_ids");
            require(batch.positions[row] == batch.kv_slots[row] - prefix_length, "positions");
        }
    }
}

std::span<const std::int32_t> table_of(const kernels::RaggedBatch& batch, std::int32_t sequence) {
    const auto width = static_cast<std::size_t>(batch.max_blocks_per_sequence);
    return batch.block_tables.subspan(static_cast<std::size_t>(sequence) * width, width);
}

}  // namespace

FakeModel::FakeModel(const Options& options) : options_(options) {
    config_.name = "fake";
    config_.num_layers = 2;
    config_.multi_query_group_num = 1;
    config_.kv_channels = kHeadDim;
    config_.padded_vocab_size = options.vocab;
    config_.seq_length = options.seq_length;
}

Result<void> FakeModel::forward(const kernels::RaggedBatch& batch, const kernels::KvCacheView& cache,
                                const ForwardOptions& options, std::span<float> logits) {
    check_rows(batch, options_.prefix_length);
    Ids rows;
    for (std::size_t i = 0; i + 1 < batch.query_starts.size(); ++i) {
        rows.push_back(batch.query_starts[i + 1] - batch.query_starts[i]);
    }
    batches.push_back(rows);
    if (fails) {
        if (Result<void> failure = fails(batch); !failure) return failure;
    }
    const auto num_tokens = static_cast<std::size_t>(batch.num_tokens());
    const auto for_each_row = [&](auto&& visit) {
        for (std::size_t row = 0; row < num_tokens; ++row)
            visit(row, table_of(batch, batch.sequence_ids[row]));
    };
    // Until a row is complete its slots hold what no pass may ever read.
    for_each_row([&](std::size_t row, auto table) {
        for (int layer = 0; layer < 2; ++layer) {
            *slot_rows(cache, table, layer, batch.kv_slots[row]).key = -9999;
            slot_rows(cache, table, layer, batch.kv_slots[row]).value[1] = 77;
        }
    });
    if (before_layer) before_layer(0, options.stop);
    if (options.stop.stop_requested()) return failure(StatusKind::kCancelled, "cancelled");
    for_each_row([&](std::size_t row, auto table) {
        slot_rows(cache, table, 0, batch.kv_slots[row]).key[0] = static_cast<float>(batch.token_ids[row]);
    });
    if (before_layer) before_layer(1, options.stop);
    if (options.stop.stop_requested()) return failure(StatusKind::kCancelled, "cancelled");
    std::vector<std::uint32_t> histories(num_tokens);
    for_each_row([&](std::size_t row, auto table) {
        histories[row] = read_history(cache, table, batch.kv_slots[row]);
        slot_rows(cache, table, 1, batch.kv_slots[row]).value[1] = static_cast<float>(histories[row]);
    });
    const auto vocab = static_cast<std::size_t>(options_.vocab);
    require(logits.size() == options.logit_rows.size() * vocab, "size of logits");
    for (std::size_t i = 0; i < options.logit_rows.size(); ++i) {
        const auto row = static_cast<std::size_t>(options.logit_rows[i]);
        fill_logits(logits.subspan(i * vocab, vocab), histories[row]);
        if (change_logits) change_logits(logits.subspan(i * vocab, vocab), batch.positions[row]);
    }
    num_rows_computed += batch.num_tokens();
    return {};
}

Result<void> FakeModel::write_prefix(const kernels::KvCacheView& cache,
                                     std::span<const std::int32_t> block_table) {
    if (fails_to_write_prefix) return failure(StatusKind::kOutOfMemory, "refused by the test");
    ++num_prefix_writes;
    for (std::int32_t slot = 0; slot < options_.prefix_length; ++slot) {
        slot_rows(cache, block_table, 0, slot).key[0] = static_cast<float>(prefix_id(slot));
        slot_rows(cache, block_table, 1, slot).value[1] =
            static_cast<float>(read_history(cache, block_table, slot));
    }
    return {};
}

std::vector<float> FakeModel::logits_after(std::span<const std::int32_t> ids) const {
    Ids slot_ids;
    for (std::int32_t slot = 0; slot < options_.prefix_length; ++slot) slot_ids.push_back(prefix_id(slot));
    slot_ids.insert(slot_ids.end(), ids.begin(), ids.end());
    std::vector<float> logits(static_cast<std::size_t>(options_.vocab));
    fill_logits(logits, history_of(slot_ids));
    return logits;
}

Ids FakeModel::greedy(Ids prompt, std::size_t count) const {
    Ids new_ids;
    while (new_ids.size() < count) {
        const std::vector<float> logits = logits_after(prompt);
        new_ids.push_back(static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin()));
        prompt.push_back(new_ids.back());
    }
    return new_ids;
}

void FakeModel::fill_logits(std::span<float> logits, std::uint32_t history) const {
    for (std::size_t id = 0; id < logits.size(); ++id) {
        logits[id] =
            static_cast<float>(extend(history, static_cast<std::int32_t>(id) - 30000) % 8192) / 1024.0F;
    }
}

}  // namespace glmchat::test
