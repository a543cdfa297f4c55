#include <algorithm>
#include <cassert>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/rows.h"

namespace glmchat::kernels::cpu {
namespace {

// Up to here streaming is faster: a panel has to be transposed, which costs as much as multiplying it by
// about this many rows.
constexpr std::int64_t kMostStreamedRows = 16;

/// Weight rows that a thread takes at a time. Several chunks per thread, so that one slowed down by other
/// programs leaves more to the others; none so small that handing it out costs more than reading it, nor too
/// large for the second-level cache, where later activation rows meet it again.
std::int64_t rows_per_chunk(const LinearWeight& weight, int num_threads) {
    constexpr std::int64_t kChunksPerThread = 8;
    constexpr std::int64_t kLeastBytes = 16 << 10;
    constexpr std::int64_t kMostBytes = 256 << 10;
    const auto row_bytes = std::max<std::int64_t>(1, static_cast<std::int64_t>(weight.row_bytes()));
    const std::int64_t share = ceil_div(weight.out_features, kChunksPerThread * num_threads);
    const std::int64_t rows =
        std::clamp(share, ceil_div(kLeastBytes, row_bytes), ceil_div(kMostBytes, row_bytes));
    return round_up(rows, kGemvWeightRows);
}

/// Few rows: every thread streams its share of the weight from memory once for all of them.
void stream_weight(Context& context, Tensor x, const LinearWeight& weight, const float* bias, Tensor y) {
    const std::int64_t stride = context.kernels.arranged_cols(weight);
    float* arranged = context.scratch.floats(stride * x.rows);
    for (std::int64_t row = 0; row < x.rows; ++row) {
        context.kernels.arrange_row(weight, x.as_float() + row * x.cols, arranged + row * stride);
    }
    const std::int64_t chunk_rows = rows_per_chunk(weight, context.pool.num_threads());
    context.pool.parallel_for(
        ceil_div(weight.out_features, chunk_rows), [&](std::int64_t chunk, int /*worker*/) {
            const std::int64_t first = chunk * chunk_rows;
            const std::int64_t end = std::min(weight.out_features, first + chunk_rows);
            for (std::int64_t row = 0; row < x.rows; row += kMaxGemvRows) {
                const auto num_rows = static_cast<int>(std::min<std::int64_t>(kMaxGemvRows, x.rows - row));
                context.kernels.gemv({&weight, arranged + row * stride, stride, num_rows, bias,
                                      y.as_float() + row * y.cols, y.cols},
                                     first, end);
            }
        });
}

/// Many rows: every thread dequantises a panel of the weight once and multiplies all rows by it.
void multiply_panels(Context& context, Tensor x, const LinearWeight& weight, const float* bias, Tensor y) {
    const InnerKernels& kernels = context.kernels;
    const std::int64_t num_tiles = ceil_div(x.rows, kernels.tile_rows);
    const std::int64_t packed_floats = round_up(num_tiles * kernels.tile_rows * x.cols, 16);
    float* packed =
        context.scratch.floats(packed_floats + context.pool.num_threads() * kernels.gemm_scratch_floats);
    float* worker_scratch = packed + packed_floats;
    context.pool.parallel_for(num_tiles, [&](std::int64_t tile, int /*worker*/) {
        kernels.pack_rows(x.as_float(), x.rows, x.cols, tile, packed);
    });

    // Several panels per chunk read the same packed activations from the second-level cache.
    constexpr std::int64_t kMostPanelsPerChunk = 8;
    constexpr std::int64_t kChunksPerThread = 4;
    const std::int64_t num_panels = ceil_div(weight.out_features, kernels.panel_cols);
    const std::int64_t share = num_panels / (kChunksPerThread * context.pool.num_threads());
    const std::int64_t cols_per_chunk =
        std::clamp<std::int64_t>(share, 1, kMostPanelsPerChunk) * kernels.panel_cols;
    const GemmArguments arguments = {&weight, packed, x.rows, bias, y.as_float(), y.cols};
    context.pool.parallel_for(
        ceil_div(weight.out_features, cols_per_chunk), [&](std::int64_t chunk, int worker) {
            const std::int64_t first = chunk * cols_per_chunk;
            kernels.gemm(arguments, first, std::min(weight.out_features, first + cols_per_chunk),
                         worker_scratch + worker * kernels.gemm_scratch_floats);
        });
}

}  // namespace

void linear(Context& context, Tensor x, const LinearWeight& weight, const float* bias, Tensor y) {
    assert(x.rows == y.rows && x.cols == weight.in_features && y.cols == weight.out_features);
    if (x.rows == 0) return;
    if (x.rows <= kMostStreamedRows) return stream_weight(context, x, weight, bias, y);
    // A bound on the packed copy of the activations (13696 columns x 768 rows: 40 MiB), in even parts.
    constexpr std::int64_t kMostRows = 768;
    const std::int64_t num_parts = ceil_div(x.rows, kMostRows);
    const std::int64_t rows_per_part = round_up(ceil_div(x.rows, num_parts), context.kernels.tile_rows);
    for (std::int64_t row = 0; row < x.rows; row += rows_per_part) {
        const std::int64_t rows = std::min(rows_per_part, x.rows - row);
        multiply_panels(context, x.row_slice(row, rows), weight, bias, y.row_slice(row, rows));
    }
}

}  // namespace glmchat::kernels::cpu
