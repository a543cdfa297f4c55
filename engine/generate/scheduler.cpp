#include "engine/generate/scheduler.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "engine/generate/local_scheduler.h"

namespace glmchat {
namespace {

constexpr std::int32_t kDefaultContextSize = 8192;  // max_length of the official chat()

Result<void> check_options(const SchedulerOptions& options, const ModelConfig& config) {
    struct Row {
        std::string_view name;
        std::int32_t value;
        std::int32_t lowest;
    };
    const Row rows[] = {
        {"context_size", options.context_size, 0},
        {"block_size", options.block_size, 1},
        {"prefill_chunk_tokens", options.prefill_chunk_tokens, 1},
        {"prefill_tokens_beside_decode", options.prefill_tokens_beside_decode, 1},
        {"max_running", options.max_running, 1},
        {"max_queued", options.max_queued, 1},
    };
    for (const Row& row : rows) {
        if (row.value >= row.lowest) continue;
        return failure(StatusKind::kInvalidArgument,
                       fmt::format("{} is {}; it must be {} or more.", row.name, row.value, row.lowest));
    }
    if (options.context_size > config.seq_length) {
        return failure(
            StatusKind::kInvalidArgument,
            fmt::format("A context of {} tokens is longer than the {} that the model was trained for.",
                        options.context_size, config.seq_length));
    }
    return {};
}

kernels::KvCacheView cache_shape(const LanguageModel& model, std::int32_t block_size) {
    const ModelConfig& config = model.config();
    kernels::KvCacheView shape;
    shape.type = model.precision() == Precision::kFloat32 ? kernels::ElementType::kFloat32
                                                          : kernels::ElementType::kFloat16;
    shape.num_layers = config.num_layers;
    shape.block_size = block_size;
    shape.num_kv_heads = config.multi_query_group_num;
    shape.head_dim = config.kv_channels;
    return shape;
}

std::int64_t blocks_for(std::int64_t num_slots, std::int32_t block_size) {
    return (num_slots + block_size - 1) / block_size;
}

/// Fills in what the options leave open and sets the number of blocks.
Result<void> fit_context(SchedulerOptions& options, const LanguageModel& model, kernels::KvCacheView& shape) {
    const std::int64_t prefix_length = model.prefix_length();
    const bool is_default = options.context_size == 0;
    if (is_default) options.context_size = std::min(model.config().seq_length, kDefaultContextSize);
    const std::int64_t needed = blocks_for(prefix_length + options.context_size, shape.block_size);
    std::int64_t num_blocks = needed + (needed + 1) / 2;
    if (options.kv_cache_bytes > 0) {
        num_blocks = static_cast<std::int64_t>(options.kv_cache_bytes / shape.bytes_per_block());
    }
    if (num_blocks < needed) {
        const std::int64_t that_fits = num_blocks * shape.block_size - prefix_length;
        if (!is_default || that_fits < 2) {  // one token of a prompt and one of an answer
            return failure(
                StatusKind::kInvalidArgument,
                fmt::format("A context of {} tokens needs a KV cache of {} bytes; {} are allowed. Choose "
                            "a shorter context or allow more.",
                            options.context_size, static_cast<std::size_t>(needed) * shape.bytes_per_block(),
                            options.kv_cache_bytes));
        }
        options.context_size = static_cast<std::int32_t>(that_fits);
    }
    constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();
    shape.num_blocks = static_cast<std::int32_t>(std::min(num_blocks, kMostBlocks / shape.block_size));
    return {};
}

}  // namespace

Result<std::unique_ptr<Scheduler>> Scheduler::create(std::unique_ptr<LanguageModel> model,
                                                     const SchedulerOptions& options) {
    if (Result<void> checked = check_options(options, model->config()); !checked) {
        return tl::unexpected(checked.error());
    }
    SchedulerOptions fitted = options;
    kernels::KvCacheView shape = cache_shape(*model, options.block_size);
    if (Result<void> fits = fit_context(fitted, *model, shape); !fits) return tl::unexpected(fits.error());

    LanguageModel& writer = *model;  // outlives the cache: the scheduler holds both
    auto cache =
        KvCache::create(model->backend(), shape, model->prefix_length(),
                        [&writer](const kernels::KvCacheView& view, std::span<const std::int32_t> table) {
                            return writer.write_prefix(view, table);
                        });
    if (!cache) return tl::unexpected(cache.error());
    return std::make_unique<LocalScheduler>(std::move(model), std::move(*cache), fitted);
}

}  // namespace glmchat
