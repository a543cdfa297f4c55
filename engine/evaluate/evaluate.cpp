#include "engine/evaluate/evaluate.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace glmchat {
namespace {

constexpr std::int32_t kBlockSize = 16;  // slots; any size gives the same numbers

/// A KV cache that holds exactly one sequence, blocks in order.
struct SingleSequenceCache {
    kernels::Buffer buffer;
    kernels::KvCacheView view;
    std::vector<std::int32_t> block_table;
};

SingleSequenceCache make_cache(LanguageModel& model, std::int32_t num_slots) {
    const ModelConfig& config = model.config();
    SingleSequenceCache cache;
    cache.view.type = model.precision() == Precision::kFloat32 ? kernels::ElementType::kFloat32
                                                               : kernels::ElementType::kFloat16;
    cache.view.num_layers = config.num_layers;
    cache.view.num_blocks = (num_slots + kBlockSize - 1) / kBlockSize;
    cache.view.block_size = kBlockSize;
    cache.view.num_kv_heads = config.multi_query_group_num;
    cache.view.head_dim = config.kv_channels;
    cache.buffer = model.backend().allocate(cache.view.bytes_per_block() *
                                            static_cast<std::size_t>(cache.view.num_blocks));
    cache.view.data = cache.buffer.data();
    cache.block_table.resize(static_cast<std::size_t>(cache.view.num_blocks));
    std::iota(cache.block_table.begin(), cache.block_table.end(), 0);
    return cache;
}

std::vector<std::int32_t> counting_from(std::int32_t first, std::size_t count) {
    std::vector<std::int32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), first);
    return numbers;
}

Result<void> forward_chunk(LanguageModel& model, const SingleSequenceCache& cache,
                           std::span<const std::int32_t> ids, std::int32_t first_position,
                           const EvaluateOptions& options, std::span<float> logits) {
    const std::vector<std::int32_t> positions = counting_from(first_position, ids.size());
    const std::vector<std::int32_t> slots = counting_from(first_position + model.prefix_length(), ids.size());
    const std::vector<std::int32_t> rows = counting_from(0, ids.size());
    const std::vector<std::int32_t> sequence_ids(ids.size(), 0);
    const std::int32_t query_starts[] = {0, static_cast<std::int32_t>(ids.size())};

    kernels::RaggedBatch batch;
    batch.token_ids = ids;
    batch.positions = positions;
    batch.sequence_ids = sequence_ids;
    batch.kv_slots = slots;
    batch.query_starts = query_starts;
    batch.block_tables = cache.block_table;
    batch.max_blocks_per_sequence = cache.view.num_blocks;

    ForwardOptions forward_options;
    forward_options.logit_rows = rows;
    forward_options.stop = options.stop;
    return model.forward(batch, cache.view, forward_options, logits);
}

}  // namespace

Result<std::vector<float>> evaluate_logits(LanguageModel& model, std::span<const std::int32_t> ids,
                                           const EvaluateOptions& options) {
    const auto num_tokens = static_cast<std::int32_t>(ids.size());
    const ModelConfig& config = model.config();
    if (ids.empty()) return failure(StatusKind::kInvalidArgument, "There are no token ids to evaluate.");
    if (num_tokens > config.seq_length) {
        return failure(StatusKind::kContextFull,
                       fmt::format("{} token ids are more than the model's context of {}.", num_tokens,
                                   config.seq_length));
    }
    const auto vocab = static_cast<std::size_t>(config.padded_vocab_size);
    try {
        const SingleSequenceCache cache = make_cache(model, num_tokens + model.prefix_length());
        if (auto written = model.write_prefix(cache.view, cache.block_table); !written) {
            return tl::unexpected(written.error());
        }
        std::vector<float> logits(ids.size() * vocab);
        const std::int32_t chunk_tokens = std::max(options.chunk_tokens, 1);
        for (std::int32_t first = 0; first < num_tokens; first += chunk_tokens) {
            const std::int32_t count = std::min(chunk_tokens, num_tokens - first);
            const std::span<float> chunk_logits(logits.data() + static_cast<std::size_t>(first) * vocab,
                                                static_cast<std::size_t>(count) * vocab);
            const auto chunk = ids.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
            if (auto done = forward_chunk(model, cache, chunk, first, options, chunk_logits); !done) {
                return tl::unexpected(done.error());
            }
            if (options.on_progress) options.on_progress(first + count, num_tokens);
        }
        return logits;
    } catch (const kernels::BackendError& error) {
        return failure(StatusKind::kOutOfMemory,
                       fmt::format("There is not enough memory to evaluate {} tokens.", num_tokens),
                       error.what());
    } catch (const std::bad_alloc&) {
        return failure(StatusKind::kOutOfMemory,
                       fmt::format("There is not enough memory for the logits of {} tokens.", num_tokens));
    }
}

}  // namespace glmchat
