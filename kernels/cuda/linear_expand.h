#pragma once

#include "kernels/cuda/ops.h"

namespace glmchat::kernels::cuda {

/// rounded[i] = x[i] * scale in `type`, kFloat16 or kBFloat16. All memory of the device.
cudaError_t round_activations(const float* x, float scale, ElementType type, void* rounded,
                              std::int64_t count, cudaStream_t stream);
/// Rows of a quantised weight as FP16. @param expanded  [num_rows, in_features]
cudaError_t expand_weight(const WeightView& weight, std::int32_t first_row, std::int32_t num_rows,
                          void* expanded, cudaStream_t stream);
/// y [rows, cols] += bias [cols].
cudaError_t add_bias(float* y, const float* bias, std::int32_t rows, std::int32_t cols, cudaStream_t stream);

}  // namespace glmchat::kernels::cuda
