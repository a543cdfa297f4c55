#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/half.h"
#include "kernels/tensor.h"

namespace glmchat::test {

/// The level q[row][col] of an INT8 or INT4 weight, read as the contract of LinearWeight says.
inline int level_of(const kernels::LinearWeight& weight, std::int64_t row, std::int64_t col) {
    const auto* bytes =
        static_cast<const std::uint8_t*>(weight.data) + row * static_cast<std::int64_t>(weight.row_bytes());
    if (weight.type == kernels::ElementType::kInt8) return static_cast<std::int8_t>(bytes[col]);
    const int nibble = col % 2 == 0 ? bytes[col / 2] >> 4 : bytes[col / 2] & 15;
    return nibble >= 8 ? nibble - 16 : nibble;
}

/// The float16 scale of that element.
inline float scale_of(const kernels::LinearWeight& weight, std::int64_t row, std::int64_t col) {
    const bool per_row = weight.scale_layout == kernels::ScaleLayout::kPerRow;
    const std::int64_t index =
        per_row ? row : row * (weight.in_features / weight.group_size) + col / weight.group_size;
    std::uint16_t half = 0;  // a mapped file may hold it at any address
    std::memcpy(&half, static_cast<const std::byte*>(weight.scales) + 2 * index, 2);
    return kernels::half_to_float(half);
}

}  // namespace glmchat::test
