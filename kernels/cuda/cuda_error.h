#pragma once

#include <string>

#include <cuda_runtime.h>

#include "kernels/backend.h"

namespace glmchat::kernels::cuda {

/// Throws BackendError when a CUDA call failed. @param what  "the launch of attention", for the message
inline void check(cudaError_t result, const char* what) {
    if (result == cudaSuccess) return;
    cudaGetLastError();  // an error that is not sticky must not fail the next call too
    const auto kind = result == cudaErrorMemoryAllocation ? BackendError::Kind::kOutOfMemory
                                                          : BackendError::Kind::kDeviceFailure;
    throw BackendError(kind, std::string("CUDA: ") + what + " failed: " + cudaGetErrorString(result));
}

}  // namespace glmchat::kernels::cuda
