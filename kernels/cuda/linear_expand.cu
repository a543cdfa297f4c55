// What surrounds a cuBLAS product y = x W^T of a long prefill: cuBLAS wants both operands in 16 bits.
//
//   round_activations   x16[i] = half(x[i] * scale)  or  bfloat16(x[i])     one thread per 4 elements
//   expand_weight       w16[n][k] = half(q[n][k] * scale)                   one thread per 8 columns of a row
//   add_bias            y[m][n] += bias[n]                                  one thread per column of a row
//
// Bytes: round 4 read + 2 written per activation; expand 0.5 (INT4) or 1 (INT8) read + 2 written per weight,
// for a tile of rows at a time that cuBLAS then finds in the second-level cache in part; bias 8 per element
// of y.
#include <algorithm>
#include <type_traits>

#include "kernels/cuda/linear_expand.h"
#include "kernels/cuda/weight_view.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kColsPerThread = 8;
constexpr std::int32_t kMaxGridRows = 65535;

template <typename Half>
__device__ std::uint32_t half_bits(float value) {
    if constexpr (std::is_same_v<Half, __half>) {
        return __half_as_ushort(__float2half_rn(value));
    } else {
        return __bfloat16_as_ushort(__float2bfloat16_rn(value));
    }
}

template <typename Half>
__global__ void __launch_bounds__(kThreads)
    round_activations_kernel(const float* x, float scale, std::uint16_t* rounded, std::int64_t count) {
    const std::int64_t first = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * 4;
    if (first + 4 <= count) {
        const Float4 four = load_float4(x + first);
        std::uint32_t bits[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) bits[i] = half_bits<Half>(four.value[i] * scale);
        *reinterpret_cast<uint2*>(rounded + first) =
            make_uint2(bits[0] | bits[1] << 16, bits[2] | bits[3] << 16);
        return;
    }
    for (std::int64_t i = first; i < count; ++i) {
        rounded[i] = static_cast<std::uint16_t>(half_bits<Half>(x[i] * scale));
    }
}

/// Rows first_row … first_row + num_rows - 1 of the weight.
__global__ void __launch_bounds__(kThreads, 4)
    expand_weight_kernel(WeightView weight, int first_row, int num_rows, __half* expanded) {
    const int first =
        (static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x)) * kColsPerThread;
    if (first >= weight.in_features) return;
    for (int row = static_cast<int>(blockIdx.y); row < num_rows; row += static_cast<int>(gridDim.y)) {
        const float scale = row_scale(weight, first_row + row);
        __half halves[kColsPerThread];
#pragma unroll
        for (int i = 0; i < kColsPerThread; ++i) {
            const int col = min(first + i, weight.in_features - 1);
            halves[i] = __float2half_rn(stored_value(weight, first_row + row, col) * scale *
                                        group_scale(weight, first_row + row, col));
        }
        __half* destination = expanded + std::int64_t{row} * weight.in_features + first;
        if (weight.in_features % kColsPerThread == 0) {
            st16(destination, pack_halves(halves));
            continue;
        }
#pragma unroll
        for (int i = 0; i < kColsPerThread; ++i) {
            if (first + i < weight.in_features) destination[i] = halves[i];
        }
    }
}

__global__ void __launch_bounds__(kThreads) add_bias_kernel(float* y, const float* bias, int rows, int cols) {
    const int col = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
    if (col >= cols) return;
    for (int row = static_cast<int>(blockIdx.y); row < rows; row += static_cast<int>(gridDim.y)) {
        y[std::int64_t{row} * cols + col] += bias[col];
    }
}

dim3 rows_and_cols(std::int32_t rows, std::int32_t cols, std::int32_t cols_per_block) {
    return dim3(static_cast<unsigned>(ceil_div(cols, cols_per_block)),
                static_cast<unsigned>(std::min(rows, kMaxGridRows)));
}

template <typename Half>
cudaError_t launch_round(const float* x, float scale, void* rounded, std::int64_t count,
                         cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(ceil_div(count, std::int64_t{4 * kThreads}));
    return launch(round_activations_kernel<Half>, LaunchCfg{blocks, kThreads, 0, stream}, x, scale,
                  static_cast<std::uint16_t*>(rounded), count);
}

}  // namespace

cudaError_t round_activations(const float* x, float scale, ElementType type, void* rounded,
                              std::int64_t count, cudaStream_t stream) {
    if (type == ElementType::kBFloat16) return launch_round<__nv_bfloat16>(x, scale, rounded, count, stream);
    return launch_round<__half>(x, scale, rounded, count, stream);
}

cudaError_t expand_weight(const WeightView& weight, std::int32_t first_row, std::int32_t num_rows,
                          void* expanded, cudaStream_t stream) {
    const dim3 grid = rows_and_cols(num_rows, weight.in_features, kThreads * kColsPerThread);
    return launch(expand_weight_kernel, LaunchCfg{grid, kThreads, 0, stream}, weight, first_row, num_rows,
                  static_cast<__half*>(expanded));
}

cudaError_t add_bias(float* y, const float* bias, std::int32_t rows, std::int32_t cols, cudaStream_t stream) {
    return launch(add_bias_kernel, LaunchCfg{rows_and_cols(rows, cols, kThreads), kThreads, 0, stream}, y,
                  bias, rows, cols);
}

}  // namespace glmchat::kernels::cuda
