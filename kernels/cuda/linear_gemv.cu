// y[m][n] = sum_k x[m][k] w[n][k], for few rows m and any weight format and shape: the kernel for FP32 and
// BF16 weights and for everything that linear_mma does not take.
//
//   x [rows, in] float32    w [out, in] FP32, FP16, BF16, INT8 or INT4 as stored    y float32
//
// One warp per pair of output features (neighbours; gate and up for SwiGLU), up to kMaxRows activation rows
// at a time; grid (pairs / 4, rows / kMaxRows). A lane takes 16 bytes of each of the two weight rows per
// step, so a warp has 1024 bytes of weights in flight per step, as two runs of 512. The weight is widened in
// registers, every product and sum is float32; a row scale is applied once at the end, a group scale once
// per 16 bytes (a group is a whole number of them, else the shape takes the element loop). x comes from the
// first-level cache: both weight rows and all activation rows use it from registers.
//
// Bytes: out * row_bytes once per kMaxRows activation rows; x is 4 * in per warp, served by the caches.
// Instructions per weight and activation row: 1 multiply-add + 1 (FP16, BF16) to 3 (INT4) to widen.
#include "kernels/cuda/linear_output.h"
#include "kernels/cuda/weight_view.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr int kWarps = 4;
constexpr int kMaxRows = 4;
[[maybe_unused]] constexpr int kMinBlocks =
    3;  // per multiprocessor: leaves 168 registers to a thread, which none needs to exceed

/// 16 bytes of a weight row are kCols columns, unpacked kPartCols at a time to keep registers free.
template <ElementType type>
struct Chunk {
    static constexpr int kCols = 128 / element_bits(type);
    static constexpr int kPartCols = kCols < 8 ? kCols : 8;
    static constexpr int kPartWords = kPartCols * element_bits(type) / 32;
    static constexpr int kBits = element_bits(type);
};

__device__ float int4_at(std::uint32_t word, int shift) {
    return static_cast<float>(static_cast<std::int32_t>(word << (28 - shift)) >> 28);
}

/// Columns part * kPartCols … of a chunk as float32, without scale.
template <ElementType type>
__device__ void widen_part(const std::uint32_t (&words)[4], int part,
                           float (&values)[Chunk<type>::kPartCols]) {
    constexpr int kPartWords = Chunk<type>::kPartWords;
#pragma unroll
    for (int i = 0; i < kPartWords; ++i) {
        const std::uint32_t word = words[part * kPartWords + i];
        if constexpr (type == ElementType::kFloat32) {
            values[i] = __uint_as_float(word);
        } else if constexpr (type == ElementType::kFloat16) {
            values[2 * i] = __half2float(__ushort_as_half(static_cast<unsigned short>(word & 0xFFFFU)));
            values[2 * i + 1] = __half2float(__ushort_as_half(static_cast<unsigned short>(word >> 16)));
        } else if constexpr (type == ElementType::kBFloat16) {
            values[2 * i] = __uint_as_float(word << 16);
            values[2 * i + 1] = __uint_as_float(word & 0xFFFF0000U);
        } else if constexpr (type == ElementType::kInt8) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                values[4 * i + j] = static_cast<float>(static_cast<std::int8_t>(word >> (8 * j)));
            }
        } else {
#pragma unroll
            for (int j = 0; j < 8; ++j)
                values[j] = int4_at(word, 8 * (j / 2) + 4 * (1 - j % 2));  // even: high nibble
        }
    }
}

__device__ void split_words(const uint4& bits, std::uint32_t (&words)[4]) {
    words[0] = bits.x;
    words[1] = bits.y;
    words[2] = bits.z;
    words[3] = bits.w;
}

/// sums[f][m] += the products of one 16-byte chunk at `col` of both features and all activation rows.
template <ElementType type, int kRows>
__device__ void multiply_chunk(const uint4 (&bits)[2], const float* const (&x)[kRows], int col,
                               float (&sums)[2][kRows]) {
    constexpr int kPartCols = Chunk<type>::kPartCols;
    std::uint32_t words[2][4];
    split_words(bits[0], words[0]);
    split_words(bits[1], words[1]);
#pragma unroll
    for (int part = 0; part < Chunk<type>::kCols / kPartCols; ++part) {
        float weights[2][kPartCols];
        widen_part<type>(words[0], part, weights[0]);
        widen_part<type>(words[1], part, weights[1]);
#pragma unroll
        for (int m = 0; m < kRows; ++m) {
#pragma unroll
            for (int first = 0; first < kPartCols; first += 4) {
                const Float4 four = load_float4(x[m] + col + part * kPartCols + first);
#pragma unroll
                for (int i = 0; i < 4; ++i) {
                    sums[0][m] += four.value[i] * weights[0][first + i];
                    sums[1][m] += four.value[i] * weights[1][first + i];
                }
            }
        }
    }
}

/// @param vector_cols  leading columns that may be read 16 bytes at a time
template <ElementType type, int kRows>
__global__ void __launch_bounds__(kWarps* kWarpSize, kMinBlocks)
    linear_gemv_kernel(LinearArguments arguments, int vector_cols) {
    const WeightView& weight = arguments.weight;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int pair = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarpSize;
    if (pair >= num_output_pairs(arguments)) return;
    const FeaturePair features = feature_pair(arguments, pair);
    const int rows_read[2] = {features.first, min(features.second, weight.out_features - 1)};
    const int first_row = static_cast<int>(blockIdx.y) * kRows;

    const float* x[kRows];
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
        x[m] = arguments.x + std::int64_t{min(first_row + m, arguments.rows - 1)} * weight.in_features;
    }
    float sums[2][kRows] = {};

    const std::int64_t row_bytes = std::int64_t{weight.in_features} * Chunk<type>::kBits / 8;
    const auto* bytes = static_cast<const unsigned char*>(weight.data);
    constexpr int kCols = Chunk<type>::kCols;
#pragma unroll 2
    for (int col = lane * kCols; col < vector_cols; col += kWarpSize * kCols) {
        uint4 bits[2];
#pragma unroll
        for (int f = 0; f < 2; ++f) bits[f] = ld16(bytes + rows_read[f] * row_bytes + col / kCols * 16);
        float chunk_sums[2][kRows] = {};
        multiply_chunk<type, kRows>(bits, x, col, chunk_sums);
#pragma unroll
        for (int f = 0; f < 2; ++f) {
            const float scale = group_scale(weight, rows_read[f], col);
#pragma unroll
            for (int m = 0; m < kRows; ++m) sums[f][m] += scale * chunk_sums[f][m];
        }
    }
    for (int col = vector_cols + lane; col < weight.in_features; col += kWarpSize) {
#pragma unroll
        for (int f = 0; f < 2; ++f) {
            const float value =
                stored_value(weight, rows_read[f], col) * group_scale(weight, rows_read[f], col);
#pragma unroll
            for (int m = 0; m < kRows; ++m) sums[f][m] += value * x[m][col];
        }
    }

#pragma unroll
    for (int m = 0; m < kRows; ++m) {
        const float first = warp_sum(sums[0][m]) * row_scale(weight, rows_read[0]);
        const float second = warp_sum(sums[1][m]) * row_scale(weight, rows_read[1]);
        if (lane == m && first_row + m < arguments.rows) {
            finish_pair(arguments, first_row + m, features, first, second);
        }
    }
}

/// Leading columns that can be read 16 bytes at a time: all or none.
int vector_cols_of(const WeightView& weight) {
    const std::int64_t row_bits = std::int64_t{weight.in_features} * element_bits(weight.type);
    const int chunk_cols = 128 / element_bits(weight.type);
    const bool aligned = row_bits % 128 == 0 && reinterpret_cast<std::uintptr_t>(weight.data) % 16 == 0;
    const bool whole_groups =
        weight.scale_layout != ScaleLayout::kPerGroup || weight.group_size % chunk_cols == 0;
    return aligned && whole_groups ? weight.in_features : 0;
}

template <ElementType type, int kRows>
cudaError_t launch_gemv(const LinearArguments& arguments, cudaStream_t stream) {
    const dim3 grid(static_cast<unsigned>(ceil_div(num_output_pairs(arguments), kWarps)),
                    static_cast<unsigned>(ceil_div(arguments.rows, kRows)));
    return launch(linear_gemv_kernel<type, kRows>, LaunchCfg{grid, kWarps * kWarpSize, 0, stream}, arguments,
                  vector_cols_of(arguments.weight));
}

template <ElementType type>
cudaError_t launch_for_rows(const LinearArguments& arguments, cudaStream_t stream) {
    if (arguments.rows == 1) return launch_gemv<type, 1>(arguments, stream);
    if (arguments.rows == 2) return launch_gemv<type, 2>(arguments, stream);
    return launch_gemv<type, kMaxRows>(arguments, stream);
}

}  // namespace

cudaError_t linear_gemv(const LinearArguments& arguments, cudaStream_t stream) {
    if (arguments.rows == 0) return cudaSuccess;
    switch (arguments.weight.type) {
        case ElementType::kFloat32:
            return launch_for_rows<ElementType::kFloat32>(arguments, stream);
        case ElementType::kFloat16:
            return launch_for_rows<ElementType::kFloat16>(arguments, stream);
        case ElementType::kBFloat16:
            return launch_for_rows<ElementType::kBFloat16>(arguments, stream);
        case ElementType::kInt8:
            return launch_for_rows<ElementType::kInt8>(arguments, stream);
        case ElementType::kInt4:
            return launch_for_rows<ElementType::kInt4>(arguments, stream);
    }
    return cudaErrorInvalidValue;
}

}  // namespace glmchat::kernels::cuda
