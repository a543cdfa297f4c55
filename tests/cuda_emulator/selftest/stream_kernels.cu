#include "tests/cuda_emulator/selftest/stream_kernels.h"

#include "kernels/cuda/device.h"

namespace selftest {
namespace {

using namespace glmchat::kernels::cuda;

constexpr int kThreads = 64;

__global__ void multiply_add_kernel(const float* x, float* y, float factor, int count) {
    const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
    if (i < count) y[i] += x[i] * factor;
}

__global__ void copy_kernel(const float* x, float* y, int count) {
    const int i = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
    if (i < count) y[i] = x[i];
}

LaunchCfg blocks_for(int count, cudaStream_t stream) {
    return {static_cast<unsigned>((count + kThreads - 1) / kThreads), kThreads, 0, stream};
}

}  // namespace

cudaError_t multiply_add(const float* x, float* y, float factor, int count, cudaStream_t stream) {
    return launch(multiply_add_kernel, blocks_for(count, stream), x, y, factor, count);
}

cudaError_t copy(const float* x, float* y, int count, cudaStream_t stream) {
    return launch(copy_kernel, blocks_for(count, stream), x, y, count);
}

}  // namespace selftest
