#include "tests/cuda_emulator/selftest/basic_kernels.h"
#include "tests/support/check.h"
#include <cuda_runtime.h>

namespace {

using namespace glmchat::test;

CheckResult block_sum() {
    cudaStream_t stream = nullptr;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    const std::vector<float> x(1000, 1.0F);
    float* device_x = nullptr;
    float* device_sums = nullptr;
    cudaMalloc(&device_x, x.size() * 4);
    cudaMalloc(&device_sums, 12);
    cudaMemcpyAsync(device_x, x.data(), x.size() * 4, cudaMemcpyHostToDevice, stream);
    const cudaError_t launched = selftest::sum(device_x, device_sums, 1000, stream);
    float sums[3] = {};
    cudaMemcpyAsync(sums, device_sums, sizeof sums, cudaMemcpyDeviceToHost, stream);
    const cudaError_t finished = cudaStreamSynchronize(stream);
    cudaFree(device_x);
    cudaFree(device_sums);
    cudaStreamDestroy(stream);
    if (launched != cudaSuccess || finished != cudaSuccess) return failed("a call failed");
    for (const float sum : sums) {
        if (sum != 1000.0F) return failed("sum " + std::to_string(sum));
    }
    return passed();
}

}  // namespace

std::vector<Check> glmchat::test::all_checks() {
    return {{"basic/block sum", block_sum}};
}
