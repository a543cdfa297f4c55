#pragma once

#include <cstring>

#include "kernels/cpu/inner_kernels.h"
#include "kernels/cpu/simd/weight_access.h"

namespace glmchat::kernels {

/// InnerKernels::arranged_cols.
template <typename Simd>
std::int64_t arranged_cols(const LinearWeight& weight) {
    const Segments<Simd> segments(weight);
    return segments.count * segments.padded_length;
}

template <typename Simd>
void arrange_pair(bool even_odd, const float* source, float* target) {
    auto first = Simd::load(source);
    auto second = Simd::load(source + Simd::kWidth);
    if (even_odd) Simd::deinterleave(first, second, first, second);
    Simd::store(target, first);
    Simd::store(target + Simd::kWidth, second);
}

/// InnerKernels::arrange_row: every segment starts at a multiple of its padded length and is filled up with
/// zeros, so that the inner loop meets whole vectors only.
template <typename Simd>
void arrange_row(const LinearWeight& weight, const float* x, float* arranged) {
    const Segments<Simd> segments(weight);
    constexpr std::int64_t kStep = Segments<Simd>::kStep;
    const bool even_odd = weight.type == ElementType::kInt4;
    for (std::int64_t segment = 0; segment < segments.count; ++segment) {
        const float* source = x + segment * segments.length;
        float* target = arranged + segment * segments.padded_length;
        const std::int64_t length = segments.length_of(segment, weight.in_features);
        const std::int64_t whole = length / kStep * kStep;
        for (std::int64_t i = 0; i < whole; i += kStep) arrange_pair<Simd>(even_odd, source + i, target + i);
        if (whole == length) continue;
        float padded[kStep] = {};
        std::memcpy(padded, source + whole, static_cast<std::size_t>(length - whole) * sizeof(float));
        arrange_pair<Simd>(even_odd, padded, target + whole);
    }
}

/// Multiplies kWeightRows weight rows by kBatch activation rows in one pass over the weights.
template <typename Simd, ElementType kType, int kWeightRows, int kBatch>
struct GemvTile {
    using Access = WeightAccess<Simd, kType>;
    using Reg = typename Simd::Reg;
    static constexpr std::int64_t kStep = Access::kStep;

    Reg sums[kWeightRows][kBatch];

    void clear() {
#pragma GCC unroll 4
        for (int r = 0; r < kWeightRows; ++r) {
#pragma GCC unroll 4
            for (int b = 0; b < kBatch; ++b) sums[r][b] = Simd::zero();
        }
    }

    /// One step of one weight row.
    void accumulate(int weight_row, Reg first, Reg second, const float* x, std::int64_t x_stride) {
#pragma GCC unroll 4
        for (int b = 0; b < kBatch; ++b) {
            Reg& sum = sums[weight_row][b];
            sum = Simd::fma(first, Simd::load(x + b * x_stride), sum);
            sum = Simd::fma(second, Simd::load(x + b * x_stride + Simd::kWidth), sum);
        }
    }

    /// One step of all weight rows; row_stride in bytes.
    void accumulate_step(const std::byte* weights, std::int64_t row_stride, const float* x,
                         std::int64_t x_stride) {
        Reg first;
        Reg second;
#pragma GCC unroll 4
        for (int r = 0; r < kWeightRows; ++r) {
            Access::load_pair(weights + r * row_stride, first, second);
            accumulate(r, first, second, x, x_stride);
        }
    }

    /// One stretch that shares a scale. Meanwhile the same stretch of the tile that comes next is fetched:
    /// the rows of a tile are several short streams, too short for the processor to recognise in time.
    void accumulate_segment(const std::byte* weights, std::int64_t row_stride, std::int64_t length,
                            const float* x, std::int64_t x_stride) {
        constexpr std::int64_t kLineBytes = 64;
        constexpr std::int64_t kLine =
            kLineBytes * 8 / Access::kBits > kStep ? kLineBytes * 8 / Access::kBits : kStep;
        const std::byte* next_weights = weights + kWeightRows * row_stride;
        std::int64_t k = 0;
        for (; k + kLine <= length; k += kLine) {
#pragma GCC unroll 4
            for (int r = 0; r < kWeightRows; ++r)
                Simd::prefetch(next_weights + r * row_stride + Access::bytes(k));
#pragma GCC unroll 8
            for (std::int64_t i = 0; i < kLine; i += kStep) {
                accumulate_step(weights + Access::bytes(k + i), row_stride, x + k + i, x_stride);
            }
        }
        for (; k + kStep <= length; k += kStep) {
            accumulate_step(weights + Access::bytes(k), row_stride, x + k, x_stride);
        }
        if (k == length) return;
        Reg first;
        Reg second;
        for (int r = 0; r < kWeightRows; ++r) {
            Access::load_partial_pair(weights + r * row_stride + Access::bytes(k), length - k, first, second);
            accumulate(r, first, second, x + k, x_stride);
        }
    }
};

/// y[b][n + r] for the rows r of one tile.
template <typename Simd, ElementType kType, int kWeightRows, int kBatch>
void gemv_tile(const GemvArguments& arguments, const Segments<Simd>& segments, std::int64_t n) {
    using Tile = GemvTile<Simd, kType, kWeightRows, kBatch>;
    using Reg = typename Simd::Reg;
    const LinearWeight& weight = *arguments.weight;
    const std::int64_t row_stride = Tile::Access::bytes(weight.in_features);
    const std::byte* weights = static_cast<const std::byte*>(weight.data) + n * row_stride;
    Tile total;
    total.clear();
    for (std::int64_t segment = 0; segment < segments.count; ++segment) {
        Tile tile;
        tile.clear();
        tile.accumulate_segment(weights + Tile::Access::bytes(segment * segments.length), row_stride,
                                segments.length_of(segment, weight.in_features),
                                arguments.arranged_x + segment * segments.padded_length,
                                arguments.arranged_stride);
        for (int r = 0; r < kWeightRows; ++r) {
            const Reg scale = Simd::broadcast(load_scale<Simd>(weight, n + r, segment, segments.count));
            for (int b = 0; b < kBatch; ++b) {
                total.sums[r][b] = Simd::fma(tile.sums[r][b], scale, total.sums[r][b]);
            }
        }
    }
    for (int r = 0; r < kWeightRows; ++r) {
        const float bias = arguments.bias == nullptr ? 0.0F : arguments.bias[n + r];
        for (int b = 0; b < kBatch; ++b) {
            arguments.y[b * arguments.y_stride + n + r] = Simd::reduce_add(total.sums[r][b]) + bias;
        }
    }
}

template <typename Simd, ElementType kType, int kBatch>
void gemv_rows(const GemvArguments& arguments, std::int64_t first, std::int64_t end) {
    // Several weight rows share each load of x, as many as keep all sums in registers.
    constexpr int kMostRows = Simd::kGemvSums / kBatch;
    constexpr int kWeightRows = kMostRows < kGemvWeightRows ? kMostRows : kGemvWeightRows;
    const Segments<Simd> segments(*arguments.weight);
    std::int64_t n = first;
    for (; n + kWeightRows <= end; n += kWeightRows) {
        gemv_tile<Simd, kType, kWeightRows, kBatch>(arguments, segments, n);
    }
    for (; n < end; ++n) gemv_tile<Simd, kType, 1, kBatch>(arguments, segments, n);
}

template <typename Simd, ElementType kType>
void gemv_of_type(const GemvArguments& arguments, std::int64_t first, std::int64_t end) {
    static_assert(kMaxGemvRows == 4);
    static constexpr decltype(&gemv_of_type<Simd, kType>) kByBatch[kMaxGemvRows] = {
        gemv_rows<Simd, kType, 1>, gemv_rows<Simd, kType, 2>, gemv_rows<Simd, kType, 3>,
        gemv_rows<Simd, kType, 4>};
    kByBatch[arguments.num_rows - 1](arguments, first, end);
}

/// InnerKernels::gemv.
template <typename Simd>
void gemv(const GemvArguments& arguments, std::int64_t first, std::int64_t end) {
    static constexpr decltype(&gemv<Simd>) kByType[] = {
        gemv_of_type<Simd, ElementType::kFloat32>, gemv_of_type<Simd, ElementType::kFloat16>,
        gemv_of_type<Simd, ElementType::kBFloat16>, gemv_of_type<Simd, ElementType::kInt8>,
        gemv_of_type<Simd, ElementType::kInt4>};
    kByType[static_cast<int>(arguments.weight->type)](arguments, first, end);
}

}  // namespace glmchat::kernels
