#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/batch.h"
#include "kernels/cpu/isa.h"
#include "kernels/tensor.h"

namespace glmchat::kernels {

/// Most activation rows that one call of gemv multiplies by each weight it loads.
inline constexpr int kMaxGemvRows = 4;
/// Most weight rows that gemv takes side by side; any chunk works, a multiple of it best.
inline constexpr int kGemvWeightRows = 4;

/// y[r][n] = dot(x[r], w[n]) + bias[n] for a few rows r.
struct GemvArguments {
    const LinearWeight* weight;
    const float* arranged_x;       ///< rows made by InnerKernels::arrange_row
    std::int64_t arranged_stride;  ///< floats, InnerKernels::arranged_cols
    int num_rows;                  ///< 1..kMaxGemvRows
    const float* bias;             ///< or null
    float* y;
    std::int64_t y_stride;
};

/// Depth of the blocks in which a panel of weight columns and its activations are packed: a block of a panel
/// stays in the first-level cache while every activation row passes over it.
inline constexpr std::int64_t kBlockDepth = 256;

/// The same product for many rows.
struct GemmArguments {
    const LinearWeight* weight;
    const float* packed_x;  ///< made by InnerKernels::pack_rows
    std::int64_t num_rows;
    const float* bias;  ///< or null
    float* y;
    std::int64_t y_stride;
};

/// Slots that attention converts and multiplies at a time. A multiple of every level's tile_rows.
inline constexpr std::int32_t kSlotsPerTile = 48;

/// One KV head of one sequence's cache.
struct KvHead {
    const std::byte* data;            ///< keys of block 0 of the layer, row 0 of this head
    ElementType type;                 ///< kFloat32 or kFloat16
    std::int64_t block_stride;        ///< bytes from one block of the layer to the next
    std::int64_t value_offset;        ///< bytes from a key row to its value row
    const std::int32_t* block_table;  ///< of the sequence
    std::int32_t block_size;
};

/// Attention of a tile of queries over a range of slots of one KV head. Lane l = token * heads_per_kv_head +
/// head.
struct AttendArguments {
    const float* queries;          ///< first query head of the group in the first token's qkv row
    std::int64_t query_stride;     ///< floats from one token's row to the next
    const std::int32_t* kv_slots;  ///< [num_tokens] last slot each token sees
    std::int32_t num_tokens;
    std::int32_t heads_per_kv_head;
    std::int32_t head_dim;
    std::int64_t padded_head_dim;  ///< a multiple of vector_width
    std::int64_t num_lanes;        ///< num_tokens * heads_per_kv_head rounded up to vector_width
    KvHead kv;
    std::int32_t first_slot;
    std::int32_t end_slot;
    // Results, softmax not yet normalised: context = weighted_values / sum.
    float* largest;  ///< [num_lanes] largest score; kNoScore where the range holds no slot the lane sees
    float* sum;      ///< [num_lanes] sum of exp(score - largest)
    float* weighted_values;  ///< [num_lanes, padded_head_dim]
};
inline constexpr float kNoScore = -1e30F;

/// The inner loops of the cpu backend, compiled once per instruction set. All pointers may have any
/// alignment.
struct InnerKernels {
    IsaLevel level;
    int vector_width;  ///< float32 lanes
    int tile_rows;     ///< activation rows of the register tile
    int panel_cols;    ///< weight rows of a packed panel

    /// values[i] = w[row][first_col + i] for i < count.
    void (*dequantize)(const LinearWeight& weight, std::int64_t row, std::int64_t first_col,
                       std::int64_t count, float* values);

    std::int64_t (*arranged_cols)(const LinearWeight& weight);
    /// Copies an activation row into the order in which gemv meets the weight's elements, padded with zeros.
    void (*arrange_row)(const LinearWeight& weight, const float* x, float* arranged);
    /// Weight rows [first, end).
    void (*gemv)(const GemvArguments& arguments, std::int64_t first, std::int64_t end);

    /// Packs register tile `tile` of the rows of x as [depth block][tile][depth][tile_rows]; packed holds
    /// in_features * (num_rows rounded up to tile_rows) floats.
    void (*pack_rows)(const float* x, std::int64_t num_rows, std::int64_t cols, std::int64_t tile,
                      float* packed);
    /// Weight rows [first, end); first is a multiple of panel_cols. scratch: gemm_scratch_floats.
    void (*gemm)(const GemmArguments& arguments, std::int64_t first, std::int64_t end, float* scratch);
    std::int64_t gemm_scratch_floats;

    void (*attend)(const AttendArguments& arguments, float* scratch);
    std::int64_t (*attend_scratch_floats)(const AttendArguments& arguments);

    void (*rms_norm)(const float* x, const float* weight, float eps, std::int64_t cols, float* y);
    void (*add)(float* sum, const float* delta, std::int64_t count);
    void (*swiglu)(const float* gate, const float* up, std::int64_t count, float* y);
    void (*store_halves)(const float* values, std::int64_t count, std::uint16_t* halves);
};

/// Only for levels that isa_supported() reports.
const InnerKernels& inner_kernels(IsaLevel level);

const InnerKernels& portable_kernels();
const InnerKernels& avx2_kernels();
const InnerKernels& avx512_kernels();

}  // namespace glmchat::kernels
