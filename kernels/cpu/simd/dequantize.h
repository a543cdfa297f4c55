#pragma once

#include <cstring>

#include "kernels/cpu/simd/weight_access.h"

namespace glmchat::kernels {

/// values[i] = q[i] * scale for one stretch of a row that shares a scale.
template <typename Simd, ElementType kType>
void dequantize_stretch(const std::byte* source, std::int64_t count, float scale, float* values) {
    using Access = WeightAccess<Simd, kType>;
    using Reg = typename Simd::Reg;
    const Reg scales = Simd::broadcast(scale);
    const auto scale_and_store = [scales](Reg first, Reg second, float* target) {
        if constexpr (Access::kEvenOdd) Simd::interleave(first, second, first, second);
        Simd::store(target, Simd::mul(first, scales));
        Simd::store(target + Simd::kWidth, Simd::mul(second, scales));
    };
    const std::int64_t whole = count / Access::kStep * Access::kStep;
    Reg first;
    Reg second;
    for (std::int64_t i = 0; i < whole; i += Access::kStep) {
        Access::load_pair(source + Access::bytes(i), first, second);
        scale_and_store(first, second, values + i);
    }
    if (whole == count) return;
    float padded[Access::kStep];
    Access::load_partial_pair(source + Access::bytes(whole), count - whole, first, second);
    scale_and_store(first, second, padded);
    std::memcpy(values + whole, padded, static_cast<std::size_t>(count - whole) * sizeof(float));
}

template <typename Simd, ElementType kType>
void dequantize_columns(const LinearWeight& weight, std::int64_t row, std::int64_t first_col,
                        std::int64_t count, float* values) {
    using Access = WeightAccess<Simd, kType>;
    const Segments<Simd> segments(weight);
    const auto* row_data =
        static_cast<const std::byte*>(weight.data) + Access::bytes(row * weight.in_features);
    const std::int64_t end_col = first_col + count;
    for (std::int64_t col = first_col; col < end_col;) {
        const std::int64_t segment = col / segments.length;
        const std::int64_t segment_end = (segment + 1) * segments.length;
        const std::int64_t stretch = (segment_end < end_col ? segment_end : end_col) - col;
        const float scale = load_scale<Simd>(weight, row, segment, segments.count);
        dequantize_stretch<Simd, kType>(row_data + Access::bytes(col), stretch, scale,
                                        values + (col - first_col));
        col += stretch;
    }
}

/// InnerKernels::dequantize. first_col and group_size are even for kInt4.
template <typename Simd>
void dequantize(const LinearWeight& weight, std::int64_t row, std::int64_t first_col, std::int64_t count,
                float* values) {
    static constexpr decltype(&dequantize<Simd>) kByType[] = {
        dequantize_columns<Simd, ElementType::kFloat32>, dequantize_columns<Simd, ElementType::kFloat16>,
        dequantize_columns<Simd, ElementType::kBFloat16>, dequantize_columns<Simd, ElementType::kInt8>,
        dequantize_columns<Simd, ElementType::kInt4>};
    kByType[static_cast<int>(weight.type)](weight, row, first_col, count, values);
}

}  // namespace glmchat::kernels
