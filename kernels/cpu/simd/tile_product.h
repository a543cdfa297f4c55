#pragma once

#include <cstdint>
#include <utility>

namespace glmchat::kernels {

/// A matrix whose elements are broadcast: x(m, k). One of the two strides is 1.
enum class BroadcastLayout {
    kDepthMajor,  ///< x[k * stride + m]: packed activations, transposed attention weights
    kRowMajor,    ///< x[m * stride + k]: key rows
};

template <typename Simd, BroadcastLayout kLayout, int kRows, int kVectors>
void register_tile(std::int64_t depth, const float* x, std::int64_t x_stride, const float* panel,
                   std::int64_t panel_stride, float* y, std::int64_t y_stride) {
    using Reg = typename Simd::Reg;
    Reg sums[kRows][kVectors];
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) sums[m][v] = Simd::load(y + m * y_stride + v * Simd::kWidth);
    }
    for (std::int64_t k = 0; k < depth; ++k) {
        Reg columns[kVectors];
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v)
            columns[v] = Simd::load(panel + k * panel_stride + v * Simd::kWidth);
#pragma GCC unroll 16
        for (int m = 0; m < kRows; ++m) {
            const std::int64_t index =
                kLayout == BroadcastLayout::kDepthMajor ? k * x_stride + m : m * x_stride + k;
            const Reg value = Simd::broadcast(x[index]);
#pragma GCC unroll 2
            for (int v = 0; v < kVectors; ++v) sums[m][v] = Simd::fma(value, columns[v], sums[m][v]);
        }
    }
#pragma GCC unroll 16
    for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 2
        for (int v = 0; v < kVectors; ++v) Simd::store(y + m * y_stride + v * Simd::kWidth, sums[m][v]);
    }
}

using RegisterTile = void (*)(std::int64_t depth, const float* x, std::int64_t x_stride, const float* panel,
                              std::int64_t panel_stride, float* y, std::int64_t y_stride);

/// register_tile for each number of rows from 1 to kTileRows.
template <typename Simd, BroadcastLayout kLayout, int kVectors>
struct RegisterTiles {
    template <int... kRowsMinusOne>
    static constexpr auto make(std::integer_sequence<int, kRowsMinusOne...>) {
        struct Table {
            RegisterTile by_rows[sizeof...(kRowsMinusOne)];
        };
        return Table{{register_tile<Simd, kLayout, kRowsMinusOne + 1, kVectors>...}};
    }
    static constexpr auto kTable = make(std::make_integer_sequence<int, Simd::kTileRows>{});
};

/// y[m][n] += sum over k < depth of x(m, k) * panel[k][n], for m < rows and n < cols; cols is a multiple of
/// kWidth. The register tile is the whole of it: kTileRows x 2 vectors of sums take 2 loads and kTileRows
/// broadcasts per step of k.
template <typename Simd, BroadcastLayout kLayout>
void tile_product(std::int64_t rows, std::int64_t depth, const float* x, std::int64_t x_stride,
                  const float* panel, std::int64_t panel_stride, std::int64_t cols, float* y,
                  std::int64_t y_stride) {
    constexpr const auto& kWide = RegisterTiles<Simd, kLayout, 2>::kTable.by_rows;
    constexpr const auto& kNarrow = RegisterTiles<Simd, kLayout, 1>::kTable.by_rows;
    constexpr std::int64_t kWideCols = 2 * Simd::kWidth;
    for (std::int64_t m = 0; m < rows; m += Simd::kTileRows) {
        const std::int64_t left = rows - m;
        const std::int64_t height = left < Simd::kTileRows ? left : Simd::kTileRows;
        const float* x_tile = kLayout == BroadcastLayout::kDepthMajor ? x + m : x + m * x_stride;
        float* y_tile = y + m * y_stride;
        std::int64_t n = 0;
        for (; n + kWideCols <= cols; n += kWideCols) {
            kWide[height - 1](depth, x_tile, x_stride, panel + n, panel_stride, y_tile + n, y_stride);
        }
        if (n < cols)
            kNarrow[height - 1](depth, x_tile, x_stride, panel + n, panel_stride, y_tile + n, y_stride);
    }
}

}  // namespace glmchat::kernels
