#pragma once

#include <cstdint>

#include "kernels/cpu/inner_kernels.h"
#include "kernels/cpu/simd/dequantize.h"
#include "kernels/cpu/simd/tile_product.h"

namespace glmchat::kernels {

/// InnerKernels::pack_rows.
template <typename Simd>
void pack_rows(const float* x, std::int64_t num_rows, std::int64_t cols, std::int64_t tile, float* packed) {
    constexpr std::int64_t kTileRows = Simd::kTileRows;
    const std::int64_t padded_rows = (num_rows + kTileRows - 1) / kTileRows * kTileRows;
    const std::int64_t first_row = tile * kTileRows;
    const std::int64_t rows = num_rows - first_row < kTileRows ? num_rows - first_row : kTileRows;
    for (std::int64_t block = 0; block < cols; block += kBlockDepth) {
        const std::int64_t depth = cols - block < kBlockDepth ? cols - block : kBlockDepth;
        float* target = packed + block * padded_rows + first_row * depth;
        for (std::int64_t m = 0; m < rows; ++m) {
            const float* source = x + (first_row + m) * cols + block;
            for (std::int64_t k = 0; k < depth; ++k) target[k * kTileRows + m] = source[k];
        }
    }
}

/// Dequantises columns [block, block + depth) of weight rows [first, first + count) into panel[k][row], the
/// rows beyond count zero. `rows` holds kWidth * kBlockDepth floats.
template <typename Simd>
void pack_panel(const LinearWeight& weight, std::int64_t first, std::int64_t count, std::int64_t block,
                std::int64_t depth, float* rows, float* panel) {
    constexpr int kWidth = Simd::kWidth;
    constexpr std::int64_t kPanelCols = 2 * kWidth;
    for (std::int64_t half = 0; half < kPanelCols; half += kWidth) {
        for (std::int64_t r = 0; r < kWidth; ++r) {
            float* row = rows + r * kBlockDepth;
            if (half + r < count) {
                dequantize<Simd>(weight, first + half + r, block, depth, row);
            } else {
                for (std::int64_t k = 0; k < depth; ++k) row[k] = 0.0F;
            }
        }
        const std::int64_t whole = depth / kWidth * kWidth;
        for (std::int64_t k = 0; k < whole; k += kWidth) {
            typename Simd::Reg square[kWidth];
            for (int r = 0; r < kWidth; ++r) square[r] = Simd::load(rows + r * kBlockDepth + k);
            Simd::transpose(square);
            for (int i = 0; i < kWidth; ++i) Simd::store(panel + (k + i) * kPanelCols + half, square[i]);
        }
        for (std::int64_t k = whole; k < depth; ++k) {
            for (std::int64_t r = 0; r < kWidth; ++r)
                panel[k * kPanelCols + half + r] = rows[r * kBlockDepth + k];
        }
    }
}

/// y[m][0 .. cols) += packed activation rows x panel. A panel that is not full goes through a tile of its
/// own, because the register tile always writes whole vectors.
template <typename Simd>
void multiply_panel(const float* packed_block, std::int64_t num_rows, std::int64_t depth, const float* panel,
                    std::int64_t cols, float* y, std::int64_t y_stride) {
    constexpr std::int64_t kPanelCols = 2 * Simd::kWidth;
    constexpr std::int64_t kTileRows = Simd::kTileRows;
    for (std::int64_t m = 0; m < num_rows; m += kTileRows) {
        const std::int64_t rows = num_rows - m < kTileRows ? num_rows - m : kTileRows;
        const float* x_tile = packed_block + m * depth;
        float* y_tile = y + m * y_stride;
        if (cols == kPanelCols) {
            tile_product<Simd, BroadcastLayout::kDepthMajor>(rows, depth, x_tile, kTileRows, panel,
                                                             kPanelCols, kPanelCols, y_tile, y_stride);
            continue;
        }
        float full_tile[kTileRows * kPanelCols] = {};
        tile_product<Simd, BroadcastLayout::kDepthMajor>(rows, depth, x_tile, kTileRows, panel, kPanelCols,
                                                         kPanelCols, full_tile, kPanelCols);
        for (std::int64_t i = 0; i < rows; ++i) {
            for (std::int64_t n = 0; n < cols; ++n) y_tile[i * y_stride + n] += full_tile[i * kPanelCols + n];
        }
    }
}

template <typename Simd>
inline constexpr std::int64_t kGemmScratchFloats = 3 * Simd::kWidth* kBlockDepth;  // kWidth rows and a panel

/// InnerKernels::gemm.
template <typename Simd>
void gemm(const GemmArguments& arguments, std::int64_t first, std::int64_t end, float* scratch) {
    constexpr std::int64_t kPanelCols = 2 * Simd::kWidth;
    constexpr std::int64_t kTileRows = Simd::kTileRows;
    const LinearWeight& weight = *arguments.weight;
    const std::int64_t padded_rows = (arguments.num_rows + kTileRows - 1) / kTileRows * kTileRows;
    float* panel = scratch + Simd::kWidth * kBlockDepth;
    for (std::int64_t m = 0; m < arguments.num_rows; ++m) {
        float* y = arguments.y + m * arguments.y_stride;
        for (std::int64_t n = first; n < end; ++n) y[n] = 0.0F;
    }
    for (std::int64_t block = 0; block < weight.in_features; block += kBlockDepth) {
        const std::int64_t left = weight.in_features - block;
        const std::int64_t depth = left < kBlockDepth ? left : kBlockDepth;
        for (std::int64_t n = first; n < end; n += kPanelCols) {
            const std::int64_t cols = end - n < kPanelCols ? end - n : kPanelCols;
            pack_panel<Simd>(weight, n, cols, block, depth, scratch, panel);
            multiply_panel<Simd>(arguments.packed_x + block * padded_rows, arguments.num_rows, depth, panel,
                                 cols, arguments.y + n, arguments.y_stride);
        }
    }
    if (arguments.bias == nullptr) return;
    // Last, not as the start of the sums: a large bias would cost every product its low bits.
    for (std::int64_t m = 0; m < arguments.num_rows; ++m) {
        float* y = arguments.y + m * arguments.y_stride;
        for (std::int64_t n = first; n < end; ++n) y[n] += arguments.bias[n];
    }
}

}  // namespace glmchat::kernels
