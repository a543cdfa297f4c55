#include "tests/cuda_emulator/selftest/basic_kernels.h"

#include "kernels/cuda/device.h"

namespace selftest {
namespace {

using namespace glmchat::kernels::cuda;

constexpr unsigned kAll = 0xFFFFFFFFU;

__global__ void sum_kernel(const float* x, float* sums, int count) {
    GLM_SHARED(float, warp_sums, [32]);
    float sum = 0.0F;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += static_cast<int>(blockDim.x)) sum += x[i];
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(kAll, sum, offset);
    if (threadIdx.x % 32 == 0) warp_sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    float total = 0.0F;
    for (unsigned warp = 0; warp < blockDim.x / 32; ++warp) total += warp_sums[warp];
    sums[blockIdx.x] = total;
}

}  // namespace

cudaError_t sum(const float* x, float* sums, int count, cudaStream_t stream) {
    return launch(sum_kernel, {3, 128, 0, stream}, x, sums, count);
}

}  // namespace selftest
