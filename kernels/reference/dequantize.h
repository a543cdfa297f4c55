#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/tensor.h"

namespace glmchat::kernels::reference {

/// Element `index` of an array of T in a mapped file, which may lie at any address.
template <typename T>
T load_element(const void* data, std::int64_t index) {
    T value;
    std::memcpy(&value, static_cast<const std::byte*>(data) + index * static_cast<std::int64_t>(sizeof(T)),
                sizeof(T));
    return value;
}

/// The scale of w[row][col] as float32; 1 for a plain weight.
float weight_scale(const LinearWeight& weight, std::int64_t row, std::int64_t col);

/// values[k] = float(q[row][k]) * float(scale), for every element type. values [in_features].
void dequantize_row(const LinearWeight& weight, std::int64_t row, float* values);

}  // namespace glmchat::kernels::reference
