#include "kernels/reference/dequantize.h"

#include "kernels/half.h"

namespace glmchat::kernels::reference {
namespace {

/// The stored number q[row][col], before its scale.
float stored_value(const LinearWeight& weight, std::int64_t row, std::int64_t col) {
    const std::int64_t index = row * weight.in_features + col;
    switch (weight.type) {
        case ElementType::kFloat32:
            return load_element<float>(weight.data, index);
        case ElementType::kFloat16:
            return half_to_float(load_element<std::uint16_t>(weight.data, index));
        case ElementType::kBFloat16:
            return bfloat16_to_float(load_element<std::uint16_t>(weight.data, index));
        case ElementType::kInt8:
            return load_element<std::int8_t>(weight.data, index);
        case ElementType::kInt4: {
            const int byte = load_element<std::uint8_t>(weight.data, index / 2);
            const int nibble = col % 2 == 0 ? byte >> 4 : byte & 15;
            return static_cast<float>(nibble < 8 ? nibble : nibble - 16);  // two's complement
        }
    }
    return 0.0F;
}

}  // namespace

float weight_scale(const LinearWeight& weight, std::int64_t row, std::int64_t col) {
    if (weight.scale_layout == ScaleLayout::kNone) return 1.0F;
    std::int64_t index = row;
    if (weight.scale_layout == ScaleLayout::kPerGroup) {
        const std::int64_t groups_per_row = (weight.in_features + weight.group_size - 1) / weight.group_size;
        index = row * groups_per_row + col / weight.group_size;
    }
    if (weight.scale_type == ElementType::kFloat32) return load_element<float>(weight.scales, index);
    return half_to_float(load_element<std::uint16_t>(weight.scales, index));
}

void dequantize_row(const LinearWeight& weight, std::int64_t row, float* values) {
    for (std::int64_t col = 0; col < weight.in_features; ++col) {
        values[col] = stored_value(weight, row, col) * weight_scale(weight, row, col);
    }
}

}  // namespace glmchat::kernels::reference
