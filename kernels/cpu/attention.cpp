#include <algorithm>
#include <cassert>
#include <cmath>
#include <vector>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/rows.h"

namespace glmchat::kernels::cpu {
namespace {

// Query rows that share one pass over the keys and values: as many as fill some vectors, for all heads of a
// KV head.
constexpr std::int32_t kLanesPerTile = 64;

// A long context is cut, so that several threads help with one token. Only when a sequence has few query
// tiles: with many there is parallel work enough, and partial results would take much memory.
constexpr std::int32_t kSlotsPerSpan = 10 * kSlotsPerTile;
constexpr std::int32_t kMostTilesToCut = 4;

/// Some tokens of one sequence, all query heads of one KV head.
struct QueryTile {
    std::int32_t first_token;
    std::int32_t num_tokens;
    std::int32_t kv_head;
    std::int32_t num_slots;      ///< seen by the last of the tokens
    std::int32_t first_partial;  ///< of its spans; without meaning when there is only one
    std::int32_t num_spans;
};

/// A range of slots of one query tile: what a thread does at a time.
struct Span {
    std::int32_t tile;
    std::int32_t index;
};

class AttentionPass {
  public:
    AttentionPass(Context& context, Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch,
                  const KvCacheView& cache, int layer, Tensor output)
        : context_(context),
          qkv_(qkv),
          shape_(shape),
          batch_(batch),
          cache_(cache),
          layer_(layer),
          output_(output),
          heads_per_kv_head_(shape.num_heads / shape.num_kv_heads),
          tokens_per_tile_(std::max(1, kLanesPerTile / heads_per_kv_head_)) {}

    void run() {
        cut_into_spans();
        reserve_scratch();
        context_.pool.parallel_for(static_cast<std::int64_t>(spans_.size()),
                                   [this](std::int64_t span, int worker) {
                                       run_span(spans_[static_cast<std::size_t>(span)], worker);
                                   });
        if (num_partials_ == 0) return;
        context_.pool.parallel_for(static_cast<std::int64_t>(tiles_.size()), [this](std::int64_t index, int) {
            const QueryTile& tile = tiles_[static_cast<std::size_t>(index)];
            if (tile.num_spans > 1) write_output(tile, partial(tile.first_partial));
        });
    }

  private:
    void cut_into_spans() {
        for (std::int32_t sequence = 0; sequence < batch_.num_sequences(); ++sequence) {
            const auto s = static_cast<std::size_t>(sequence);
            add_sequence(batch_.query_starts[s], batch_.query_starts[s + 1]);
        }
    }

    void add_sequence(std::int32_t first_token, std::int32_t end_token) {
        const auto num_tiles = static_cast<std::int32_t>(ceil_div(end_token - first_token, tokens_per_tile_));
        // The last tokens first: they see most slots, and the longest work should not begin last.
        for (std::int32_t tile = num_tiles - 1; tile >= 0; --tile) {
            const std::int32_t first = first_token + tile * tokens_per_tile_;
            const std::int32_t num_tokens = std::min(tokens_per_tile_, end_token - first);
            const auto slots = batch_.kv_slots.subspan(static_cast<std::size_t>(first),
                                                       static_cast<std::size_t>(num_tokens));
            const std::int32_t num_slots = *std::max_element(slots.begin(), slots.end()) + 1;
            const std::int32_t num_spans = num_tiles <= kMostTilesToCut
                                               ? static_cast<std::int32_t>(ceil_div(num_slots, kSlotsPerSpan))
                                               : 1;
            for (std::int32_t kv_head = 0; kv_head < shape_.num_kv_heads; ++kv_head) {
                for (std::int32_t i = 0; i < num_spans; ++i) {
                    spans_.push_back({static_cast<std::int32_t>(tiles_.size()), i});
                }
                tiles_.push_back({first, num_tokens, kv_head, num_slots, num_partials_, num_spans});
                if (num_spans > 1) num_partials_ += num_spans;
            }
        }
    }

    void reserve_scratch() {
        AttendArguments largest = {};
        largest.head_dim = shape_.head_dim;
        largest.padded_head_dim = round_up(shape_.head_dim, context_.kernels.vector_width);
        largest.num_lanes = num_lanes(tokens_per_tile_);
        attend_floats_ = context_.kernels.attend_scratch_floats(largest);
        result_floats_ = largest.num_lanes * (2 + largest.padded_head_dim);
        const std::int64_t worker_floats = attend_floats_ + result_floats_;
        partials_ = context_.scratch.floats(num_partials_ * result_floats_ +
                                            context_.pool.num_threads() * worker_floats);
        worker_scratch_ = partials_ + num_partials_ * result_floats_;
    }

    std::int64_t num_lanes(std::int32_t num_tokens) const {
        return round_up(std::int64_t{num_tokens} * heads_per_kv_head_, context_.kernels.vector_width);
    }
    float* partial(std::int32_t index) const { return partials_ + index * result_floats_; }

    void run_span(const Span& span, int worker) {
        const QueryTile& tile = tiles_[static_cast<std::size_t>(span.tile)];
        float* scratch = worker_scratch_ + worker * (attend_floats_ + result_floats_);
        const bool whole = tile.num_spans == 1;
        AttendArguments arguments = describe(tile);
        if (!whole) {
            arguments.first_slot = span.index * kSlotsPerSpan;
            arguments.end_slot = std::min(tile.num_slots, arguments.first_slot + kSlotsPerSpan);
        }
        float* results = whole ? scratch + attend_floats_ : partial(tile.first_partial + span.index);
        arguments.largest = results;
        arguments.sum = results + arguments.num_lanes;
        arguments.weighted_values = results + 2 * arguments.num_lanes;
        context_.kernels.attend(arguments, scratch);
        if (whole) write_output(tile, results);
    }

    /// All slots of the tile; results not yet set.
    AttendArguments describe(const QueryTile& tile) const {
        const auto token = static_cast<std::size_t>(tile.first_token);
        const std::int64_t first_head = std::int64_t{tile.kv_head} * heads_per_kv_head_;
        AttendArguments arguments = {};
        arguments.queries = qkv_.as_float() + tile.first_token * qkv_.cols + first_head * shape_.head_dim;
        arguments.query_stride = qkv_.cols;
        arguments.kv_slots = batch_.kv_slots.data() + token;
        arguments.num_tokens = tile.num_tokens;
        arguments.heads_per_kv_head = heads_per_kv_head_;
        arguments.head_dim = shape_.head_dim;
        arguments.padded_head_dim = round_up(shape_.head_dim, context_.kernels.vector_width);
        arguments.num_lanes = num_lanes(tile.num_tokens);
        arguments.kv = kv_of(tile);
        arguments.end_slot = tile.num_slots;
        return arguments;
    }

    KvHead kv_of(const QueryTile& tile) const {
        const auto bytes = [this](std::int64_t elements) {
            return static_cast<std::int64_t>(element_bytes(cache_.type, elements));
        };
        const std::int32_t sequence_id = batch_.sequence_ids[static_cast<std::size_t>(tile.first_token)];
        return {
            static_cast<const std::byte*>(cache_.data) + bytes(cache_.offset(layer_, 0, 0, tile.kv_head, 0)),
            cache_.type,
            bytes(2 * cache_.half_block_elements()),
            bytes(cache_.half_block_elements()),
            batch_.block_tables.data() + std::int64_t{sequence_id} * batch_.max_blocks_per_sequence,
            cache_.block_size};
    }

    /// Joins the spans of a tile, whose results lie one after the other, and normalises.
    void write_output(const QueryTile& tile, const float* results) const {
        const std::int64_t lanes = num_lanes(tile.num_tokens);
        const std::int64_t padded_head_dim = round_up(shape_.head_dim, context_.kernels.vector_width);
        for (std::int32_t lane = 0; lane < tile.num_tokens * heads_per_kv_head_; ++lane) {
            float largest = kNoScore;
            for (std::int32_t i = 0; i < tile.num_spans; ++i) {
                largest = std::max(largest, results[i * result_floats_ + lane]);
            }
            const std::int64_t token = tile.first_token + lane / heads_per_kv_head_;
            const std::int64_t head = tile.kv_head * heads_per_kv_head_ + lane % heads_per_kv_head_;
            float* output = output_.as_float() + token * output_.cols + head * shape_.head_dim;
            std::fill(output, output + shape_.head_dim, 0.0F);
            float sum = 0.0F;
            for (std::int32_t i = 0; i < tile.num_spans; ++i) {
                const float* span = results + i * result_floats_;
                const float weight = std::exp(span[lane] - largest);
                sum += weight * span[lanes + lane];
                const float* values = span + 2 * lanes + lane * padded_head_dim;
                for (std::int32_t d = 0; d < shape_.head_dim; ++d) output[d] += weight * values[d];
            }
            for (std::int32_t d = 0; d < shape_.head_dim; ++d) output[d] /= sum;
        }
    }

    Context& context_;
    const Tensor qkv_;
    const AttentionShape& shape_;
    const RaggedBatch& batch_;
    const KvCacheView& cache_;
    const int layer_;
    const Tensor output_;
    const std::int32_t heads_per_kv_head_;
    const std::int32_t tokens_per_tile_;

    std::vector<QueryTile> tiles_;
    std::vector<Span> spans_;
    std::int32_t num_partials_ = 0;
    std::int64_t attend_floats_ = 0;
    std::int64_t result_floats_ = 0;
    float* partials_ = nullptr;        ///< [num_partials_, result_floats_]
    float* worker_scratch_ = nullptr;  ///< [num_threads, attend_floats_ + result_floats_]
};

}  // namespace

void attention(Context& context, Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch,
               const KvCacheView& cache, int layer, Tensor output) {
    assert(qkv.rows == batch.num_tokens() && qkv.cols == shape.qkv_cols());
    assert(output.rows == qkv.rows && output.cols == shape.query_cols());
    AttentionPass(context, qkv, shape, batch, cache, layer, output).run();
}

}  // namespace glmchat::kernels::cpu
