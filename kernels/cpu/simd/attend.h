#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/cpu/inner_kernels.h"
#include "kernels/cpu/simd/elementwise.h"
#include "kernels/cpu/simd/tile_product.h"

namespace glmchat::kernels {

/// Attention of the lanes of one task (query heads that share a KV head, of one or several tokens) over a
/// range of slots, tile by tile with a running softmax. Each key and value is read and converted once for all
/// lanes:
///   scores[slot][lane]          = keys[slot][d] * queries[d][lane]        (lanes are the vector dimension)
///   weights[slot][lane]         = exp(scores - largest[lane])
///   weighted_values[lane][d]   += weights[slot][lane] * values[slot][d]   (d is the vector dimension)
template <typename Simd>
class AttendTask {
  public:
    AttendTask(const AttendArguments& arguments, float* scratch)
        : arguments_(arguments),
          queries_(scratch),
          scores_(queries_ + arguments.head_dim * arguments.num_lanes),
          kv_rows_(scores_ + kSlotsPerTile * arguments.num_lanes),
          rescale_(kv_rows_ + kSlotsPerTile * arguments.padded_head_dim) {}

    static std::int64_t scratch_floats(const AttendArguments& arguments) {
        return (arguments.head_dim + kSlotsPerTile + 1) * arguments.num_lanes +
               kSlotsPerTile * arguments.padded_head_dim;
    }

    void run() {
        pack_queries();
        clear_results();
        for (std::int32_t slot = arguments_.first_slot; slot < arguments_.end_slot; slot += kSlotsPerTile) {
            const std::int32_t left = arguments_.end_slot - slot;
            attend_tile(slot, left < kSlotsPerTile ? left : kSlotsPerTile);
        }
    }

  private:
    using Reg = typename Simd::Reg;

    /// queries_[d][lane], already divided by sqrt(head_dim); lanes without a query are zero.
    void pack_queries() {
        const std::int64_t num_lanes = arguments_.num_lanes;
        const float scale = 1.0F / __builtin_sqrtf(static_cast<float>(arguments_.head_dim));
        const std::int64_t num_queries = std::int64_t{arguments_.num_tokens} * arguments_.heads_per_kv_head;
        for (std::int64_t lane = 0; lane < num_queries; ++lane) {
            const std::int64_t token = lane / arguments_.heads_per_kv_head;
            const std::int64_t head = lane % arguments_.heads_per_kv_head;
            const float* query =
                arguments_.queries + token * arguments_.query_stride + head * arguments_.head_dim;
            for (std::int64_t d = 0; d < arguments_.head_dim; ++d)
                queries_[d * num_lanes + lane] = query[d] * scale;
        }
        for (std::int64_t lane = num_queries; lane < num_lanes; ++lane) {
            for (std::int64_t d = 0; d < arguments_.head_dim; ++d) queries_[d * num_lanes + lane] = 0.0F;
        }
    }

    void clear_results() {
        for (std::int64_t lane = 0; lane < arguments_.num_lanes; ++lane) {
            arguments_.largest[lane] = kNoScore;
            arguments_.sum[lane] = 0.0F;
        }
        clear(arguments_.weighted_values, arguments_.num_lanes * arguments_.padded_head_dim);
    }

    void attend_tile(std::int32_t first_slot, std::int32_t num_slots) {
        const std::int64_t num_lanes = arguments_.num_lanes;
        const std::int64_t row = arguments_.padded_head_dim;
        load_rows(first_slot, num_slots, 0);
        clear(scores_, num_slots * num_lanes);
        tile_product<Simd, BroadcastLayout::kRowMajor>(num_slots, arguments_.head_dim, kv_rows_, row,
                                                       queries_, num_lanes, num_lanes, scores_, num_lanes);
        hide_later_slots(first_slot, num_slots);
        update_softmax(num_slots);
        load_rows(first_slot, num_slots, arguments_.kv.value_offset);
        tile_product<Simd, BroadcastLayout::kDepthMajor>(num_lanes, num_slots, scores_, num_lanes, kv_rows_,
                                                         row, row, arguments_.weighted_values, row);
    }

    /// kv_rows_[slot][d] as float32, padding zero. part_offset: 0 for keys, value_offset for values.
    void load_rows(std::int32_t first_slot, std::int32_t num_slots, std::int64_t part_offset) {
        const KvHead& kv = arguments_.kv;
        const std::int64_t element_size = kv.type == ElementType::kFloat32 ? 4 : 2;
        const std::int64_t row_bytes = arguments_.head_dim * element_size;
        for (std::int32_t i = 0; i < num_slots; ++i) {
            const std::int32_t slot = first_slot + i;
            const std::int64_t block = kv.block_table[slot / kv.block_size];
            const std::byte* source =
                kv.data + block * kv.block_stride + (slot % kv.block_size) * row_bytes + part_offset;
            load_row(source, kv_rows_ + i * arguments_.padded_head_dim);
        }
    }

    void load_row(const std::byte* source, float* target) {
        const bool half = arguments_.kv.type == ElementType::kFloat16;
        const std::int64_t whole = arguments_.head_dim / Simd::kWidth * Simd::kWidth;
        for (std::int64_t d = 0; d < whole; d += Simd::kWidth) {
            Simd::store(target + d, half ? Simd::load_half(source + d * 2)
                                         : Simd::load(reinterpret_cast<const float*>(source + d * 4)));
        }
        if (whole == arguments_.head_dim) return;
        const std::int64_t element_size = half ? 2 : 4;
        std::byte last[Simd::kWidth * sizeof(float)] = {};
        std::memcpy(last, source + whole * element_size,
                    static_cast<std::size_t>((arguments_.head_dim - whole) * element_size));
        Simd::store(target + whole,
                    half ? Simd::load_half(last) : Simd::load(reinterpret_cast<const float*>(last)));
    }

    /// Causality: a token sees no slot after its own. Only the last tiles of a range hold such slots.
    void hide_later_slots(std::int32_t first_slot, std::int32_t num_slots) {
        for (std::int32_t token = 0; token < arguments_.num_tokens; ++token) {
            const std::int32_t num_seen = arguments_.kv_slots[token] + 1 - first_slot;
            for (std::int32_t i = num_seen < 0 ? 0 : num_seen; i < num_slots; ++i) {
                float* scores = scores_ + i * arguments_.num_lanes + token * arguments_.heads_per_kv_head;
                for (std::int32_t head = 0; head < arguments_.heads_per_kv_head; ++head) {
                    scores[head] = -__builtin_inff();
                }
            }
        }
    }

    /// Turns scores into weights relative to the new largest score, and rescales what was summed up before.
    void update_softmax(std::int32_t num_slots) {
        const std::int64_t num_lanes = arguments_.num_lanes;
        for (std::int64_t lane = 0; lane < num_lanes; lane += Simd::kWidth) {
            const Reg old_largest = Simd::load(arguments_.largest + lane);
            Reg largest = old_largest;
            for (std::int32_t i = 0; i < num_slots; ++i) {
                largest = Simd::max(largest, Simd::load(scores_ + i * num_lanes + lane));
            }
            const Reg rescale = exp_vector<Simd>(Simd::sub(old_largest, largest));
            Reg sum = Simd::mul(Simd::load(arguments_.sum + lane), rescale);
            for (std::int32_t i = 0; i < num_slots; ++i) {
                float* score = scores_ + i * num_lanes + lane;
                const Reg weight = exp_vector<Simd>(Simd::sub(Simd::load(score), largest));
                sum = Simd::add(sum, weight);
                Simd::store(score, weight);
            }
            Simd::store(arguments_.largest + lane, largest);
            Simd::store(arguments_.sum + lane, sum);
            Simd::store(rescale_ + lane, rescale);
        }
        for (std::int64_t lane = 0; lane < num_lanes; ++lane) {
            if (rescale_[lane] == 1.0F) continue;
            const Reg factor = Simd::broadcast(rescale_[lane]);
            float* values = arguments_.weighted_values + lane * arguments_.padded_head_dim;
            for (std::int64_t d = 0; d < arguments_.padded_head_dim; d += Simd::kWidth) {
                Simd::store(values + d, Simd::mul(Simd::load(values + d), factor));
            }
        }
    }

    /// count is a multiple of kWidth.
    static void clear(float* values, std::int64_t count) {
        for (std::int64_t i = 0; i < count; i += Simd::kWidth) Simd::store(values + i, Simd::zero());
    }

    const AttendArguments& arguments_;
    float* queries_;  ///< [head_dim, num_lanes]
    float* scores_;   ///< [kSlotsPerTile, num_lanes]
    float* kv_rows_;  ///< [kSlotsPerTile, padded_head_dim]
    float* rescale_;  ///< [num_lanes]
};

/// InnerKernels::attend.
template <typename Simd>
void attend(const AttendArguments& arguments, float* scratch) {
    AttendTask<Simd>(arguments, scratch).run();
}

/// InnerKernels::attend_scratch_floats.
template <typename Simd>
std::int64_t attend_scratch_floats(const AttendArguments& arguments) {
    return AttendTask<Simd>::scratch_floats(arguments);
}

}  // namespace glmchat::kernels
