#pragma once

#include "kernels/cuda/ops.h"
#include "kernels/cuda/warp.h"

/// Reading single elements of a weight of any format.
namespace glmchat::kernels::cuda {

__device__ inline float load_scale(const WeightView& weight, std::int64_t index) {
    if (weight.scale_type == ElementType::kFloat32) return static_cast<const float*>(weight.scales)[index];
    return __half2float(static_cast<const __half*>(weight.scales)[index]);
}

/// The scale of a whole row; 1 unless the layout is kPerRow.
__device__ inline float row_scale(const WeightView& weight, int row) {
    return weight.scale_layout == ScaleLayout::kPerRow ? load_scale(weight, row) : 1.0F;
}

/// The scale of the group that holds w[row][col]; 1 unless the layout is kPerGroup.
__device__ inline float group_scale(const WeightView& weight, int row, int col) {
    if (weight.scale_layout != ScaleLayout::kPerGroup) return 1.0F;
    return load_scale(weight, std::int64_t{row} * weight.groups_per_row + col / weight.group_size);
}

/// The stored number q[row][col], before its scale.
__device__ inline float stored_value(const WeightView& weight, int row, int col) {
    const std::int64_t index = std::int64_t{row} * weight.in_features + col;
    switch (weight.type) {
        case ElementType::kFloat32:
            return static_cast<const float*>(weight.data)[index];
        case ElementType::kFloat16:
            return __half2float(static_cast<const __half*>(weight.data)[index]);
        case ElementType::kBFloat16:
            return __bfloat162float(static_cast<const __nv_bfloat16*>(weight.data)[index]);
        case ElementType::kInt8:
            return static_cast<const std::int8_t*>(weight.data)[index];
        case ElementType::kInt4: {  // the even column in the high nibble; in_features is even
            const int byte = static_cast<const std::int8_t*>(weight.data)[index / 2];
            return static_cast<float>(col % 2 == 0 ? byte >> 4 : (byte << 28) >> 28);
        }
    }
    return 0.0F;
}

}  // namespace glmchat::kernels::cuda
