// y = x / sqrt(mean(x^2) + eps) * weight, and the same after residual += delta.      (arXiv 1910.07467)
//
//   x, residual, delta, y  [rows, cols] float32    weight [cols] float32    row_ids [rows] or null
//
// One block per row. A row is read once and kept in registers between the sum of squares and the scaling:
// thread i holds the 16-byte vectors i, i + threads, …, at most kMaxVectors of them, so 1024 threads cover
// 16384 columns; a hidden size of 4096 takes 1024 threads with one vector each. A decode step is one row, so
// its time is the latency of one load, one reduction and one store; more threads with less work each is the
// right choice there. Rows that are not whole vectors, or longer, take the scalar form, which reads x twice.
//
// Sum: lane, warp shuffle, then one value per warp through shared memory. Bytes: read rows * cols * 4 (+
// delta), written the same (+ residual), weight once per row from the second-level cache.
#include <algorithm>

#include "kernels/cuda/ops.h"
#include "kernels/cuda/warp.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr int kMaxThreads = 1024;
constexpr int kMaxVectors = 4;

/// The sum over the block, in every thread. All threads call it, once per kernel: its shared memory has no
/// second barrier.
__device__ float block_sum(float value) {
    GLM_SHARED(float, warp_sums, [kMaxThreads / kWarpSize]);
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int num_warps = static_cast<int>(blockDim.x) / kWarpSize;
    const float sum = warp_sum(value);
    if (lane == 0) warp_sums[warp] = sum;
    __syncthreads();
    return warp_sum(lane < num_warps ? warp_sums[lane] : 0.0F);
}

__device__ float inverse_rms(float sum_of_squares, int cols, float eps) {
    return 1.0F / sqrtf(sum_of_squares / static_cast<float>(cols) + eps);
}

struct RmsNormArguments {
    const float* x;
    float* residual;  ///< null without an addition; else x is the delta and this row is updated
    const std::int32_t* row_ids;
    const float* weight;
    float* y;
    float eps;
    int cols;
};

template <int kVectors>
__global__ void __launch_bounds__(kMaxThreads) rms_norm_vectors(RmsNormArguments arguments) {
    const std::int64_t row = blockIdx.x;
    const std::int64_t source_row = arguments.row_ids == nullptr ? row : arguments.row_ids[row];
    const float* x = arguments.x + source_row * arguments.cols;
    float* residual = arguments.residual == nullptr ? nullptr : arguments.residual + row * arguments.cols;
    float* y = arguments.y + row * arguments.cols;
    const int stride = static_cast<int>(blockDim.x) * 4;

    Float4 held[kVectors] = {};
    float sum_of_squares = 0.0F;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
        const int col = static_cast<int>(threadIdx.x) * 4 + v * stride;
        if (col >= arguments.cols) continue;
        held[v] = load_float4(x + col);
        if (residual != nullptr) {
            const Float4 before = load_float4(residual + col);
#pragma unroll
            for (int i = 0; i < 4; ++i) held[v].value[i] += before.value[i];
            store_float4(residual + col, held[v]);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) sum_of_squares += held[v].value[i] * held[v].value[i];
    }
    const float factor = inverse_rms(block_sum(sum_of_squares), arguments.cols, arguments.eps);
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
        const int col = static_cast<int>(threadIdx.x) * 4 + v * stride;
        if (col >= arguments.cols) continue;
        const Float4 weight = load_float4(arguments.weight + col);
#pragma unroll
        for (int i = 0; i < 4; ++i) held[v].value[i] *= factor * weight.value[i];
        store_float4(y + col, held[v]);
    }
}

__global__ void __launch_bounds__(kMaxThreads) rms_norm_scalar(RmsNormArguments arguments) {
    const std::int64_t row = blockIdx.x;
    const std::int64_t source_row = arguments.row_ids == nullptr ? row : arguments.row_ids[row];
    const float* x = arguments.x + source_row * arguments.cols;
    float* residual = arguments.residual == nullptr ? nullptr : arguments.residual + row * arguments.cols;
    float* y = arguments.y + row * arguments.cols;

    float sum_of_squares = 0.0F;
    for (int col = static_cast<int>(threadIdx.x); col < arguments.cols; col += static_cast<int>(blockDim.x)) {
        float value = x[col];
        if (residual != nullptr) {
            value += residual[col];
            residual[col] = value;
        }
        sum_of_squares += value * value;
    }
    const float factor = inverse_rms(block_sum(sum_of_squares), arguments.cols, arguments.eps);
    const float* source =
        residual == nullptr ? x : residual;  // what this thread itself has read or written above
    for (int col = static_cast<int>(threadIdx.x); col < arguments.cols; col += static_cast<int>(blockDim.x)) {
        y[col] = source[col] * factor * arguments.weight[col];
    }
}

cudaError_t launch_rms_norm(const RmsNormArguments& arguments, std::int32_t rows, cudaStream_t stream) {
    if (rows == 0) return cudaSuccess;
    const int vectors = ceil_div(arguments.cols, 4);
    const int threads = std::min(kMaxThreads, ceil_div(vectors, kWarpSize) * kWarpSize);
    const LaunchCfg config{static_cast<unsigned>(rows), static_cast<unsigned>(threads), 0, stream};
    if (arguments.cols % 4 != 0 || vectors > kMaxThreads * kMaxVectors) {
        return launch(rms_norm_scalar, config, arguments);
    }
    if (vectors <= threads) return launch(rms_norm_vectors<1>, config, arguments);
    return launch(rms_norm_vectors<kMaxVectors>, config, arguments);
}

}  // namespace

cudaError_t rms_norm(const float* x, const std::int32_t* row_ids, const float* weight, float eps, float* y,
                     std::int32_t rows, std::int32_t cols, cudaStream_t stream) {
    return launch_rms_norm({x, nullptr, row_ids, weight, y, eps, cols}, rows, stream);
}

cudaError_t add_rms_norm(float* residual, const float* delta, const float* weight, float eps, float* y,
                         std::int32_t rows, std::int32_t cols, cudaStream_t stream) {
    return launch_rms_norm({delta, residual, nullptr, weight, y, eps, cols}, rows, stream);
}

}  // namespace glmchat::kernels::cuda
