#pragma once

#include <cuda_runtime.h>

/// Kernels for checks of streams, graphs and memory; x and y have `count` elements.
namespace selftest {

/// y[i] = x[i] * factor + y[i]
cudaError_t multiply_add(const float* x, float* y, float factor, int count, cudaStream_t stream);
/// y[i] = x[i]
cudaError_t copy(const float* x, float* y, int count, cudaStream_t stream);

}  // namespace selftest
