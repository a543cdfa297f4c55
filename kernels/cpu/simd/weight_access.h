#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/tensor.h"

namespace glmchat::kernels {

/// How the elements of one type are read, two vectors (kStep elements) at a time. Weights lie in mapped
/// files: any address.
template <typename Simd, ElementType kType>
struct WeightAccess {
    using Reg = typename Simd::Reg;
    static constexpr std::int64_t kStep = 2 * Simd::kWidth;
    static constexpr int kBits = element_bits(kType);
    /// Whether a pair holds the even and the odd columns instead of the first and the second half.
    static constexpr bool kEvenOdd = kType == ElementType::kInt4;

    /// Byte offset of an element; even for kInt4.
    static constexpr std::int64_t bytes(std::int64_t elements) { return elements * kBits / 8; }

    static void load_pair(const std::byte* source, Reg& first, Reg& second) {
        if constexpr (kType == ElementType::kInt4) {
            Simd::load_int4(source, first, second);
        } else {
            first = load(source);
            second = load(source + bytes(Simd::kWidth));
        }
    }

    /// `count` < kStep elements, the others zero.
    static void load_partial_pair(const std::byte* source, std::int64_t count, Reg& first, Reg& second) {
        std::byte padded[kStep * kBits / 8] = {};
        std::memcpy(padded, source, static_cast<std::size_t>((count * kBits + 7) / 8));
        load_pair(padded, first, second);
    }

  private:
    static Reg load(const std::byte* source) {
        if constexpr (kType == ElementType::kFloat32) {
            return Simd::load(reinterpret_cast<const float*>(source));
        } else if constexpr (kType == ElementType::kFloat16) {
            return Simd::load_half(source);
        } else if constexpr (kType == ElementType::kBFloat16) {
            return Simd::load_bfloat16(source);
        } else {
            return Simd::load_int8(source);
        }
    }
};

/// The stretch of a row that shares one scale, and how many there are.
template <typename Simd>
struct Segments {
    explicit Segments(const LinearWeight& weight)
        : length(weight.scale_layout == ScaleLayout::kPerGroup ? weight.group_size : weight.in_features),
          count((weight.in_features + length - 1) / length),
          padded_length((length + kStep - 1) / kStep * kStep) {}

    static constexpr std::int64_t kStep = 2 * Simd::kWidth;
    std::int64_t length;
    std::int64_t count;
    std::int64_t padded_length;  ///< room of one segment in an arranged activation row

    std::int64_t length_of(std::int64_t segment, std::int64_t in_features) const {
        const std::int64_t left = in_features - segment * length;
        return left < length ? left : length;
    }
};

/// Scale of (row, segment); 1 for a plain weight, so that one loop serves all.
template <typename Simd>
float load_scale(const LinearWeight& weight, std::int64_t row, std::int64_t segment,
                 std::int64_t num_segments) {
    if (weight.scale_layout == ScaleLayout::kNone) return 1.0F;
    const std::int64_t index = row * num_segments + segment;
    const auto* scales = static_cast<const std::byte*>(weight.scales);
    if (weight.scale_type == ElementType::kFloat32) {
        float scale;
        std::memcpy(&scale, scales + index * 4, 4);
        return scale;
    }
    std::uint16_t half;
    std::memcpy(&half, scales + index * 2, 2);
    return Simd::half_to_float(half);
}

}  // namespace glmchat::kernels
