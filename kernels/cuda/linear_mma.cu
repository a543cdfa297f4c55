// y[m][n] = sum_k x[m][k] w[n][k] on tensor cores, for 1 to 16 rows m and FP16, INT8 or INT4 weights as
// stored.
//
//   x [rows, in] float32    w [out, in], in % 128 == 0, scales per row or per group of n * 128    y float32
//
// Why tensor cores even for one row: a decode step is bound by reading the weight, if the arithmetic keeps
// up. Widening an INT4 weight to float32 and multiplying it costs 3.4 instructions; widening it to half
// costs 1.4, and the products are free here. 5.7 G weights per token make that the difference between the
// limit of the memory and the limit of the multiprocessors.
//
// The weight is the A operand of mma.m16n8k16 (16 output features x 16 k), the activations are B (16 k x 8
// columns). Sums are float32. An activation keeps its float32 accuracy: it is split into two halves, x *
// 2^-8 = hi + lo * 2^-11, which are two columns of B, so one row takes no more instructions than one with
// plain halves would. The split represents |x| < 1.6e7 with 22 bits, and steps of 4e-9 near zero. Quantised
// weights are integers in A, exact; scales are applied in float32 to the sums.
//
// Order of k. The sum does not care which k is which as long as A and B agree, so no weight is ever
// rearranged: lane (g, t), g = lane / 4, t = lane % 4, reads 16 bytes of features g and g + 8 and uses what
// they hold, in the order that unpacking gives, as its k of the next steps. Four lanes read 64 consecutive
// bytes of a feature. x is staged in shared memory in that same order, as 16-byte units
// [warp][quarter][column][t] of 8 halves = 2 mma steps of one lane; a unit is read by 8 lanes from 128
// consecutive bytes, without bank conflicts.
//
// Block: kWarps warps share 32 features (16 gate and 16 up ones for SwiGLU) and cut k among them: per stage
// of 128 * kWarps columns a warp takes 128. Stage: issue all weight loads of the stage (2 to 8 KB per warp),
// convert x meanwhile, barrier, multiply, barrier. At the end the warps add up through shared memory. Grid:
// pairs of features / 16; 128 blocks for 4096 features. Shared memory: 2 bytes * columns * 128 * kWarps <=
// 32 KB.
//
// Bytes: out * row_bytes once; x, 4 * rows * in per block, from the second-level cache: for INT4 and one row
// a quarter of the block's 16 * in bytes of weights.
#include <algorithm>

#include "kernels/cuda/linear_output.h"
#include "kernels/cuda/weight_view.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr int kWarpCols = 128;     // columns of k of one warp and stage
constexpr int kTileFeatures = 16;  // of one mma
constexpr int kTiles = 2;
constexpr int kPairs = 16;      // of features, per block
constexpr int kUnitHalves = 8;  // of 16 bytes
constexpr int kQuarters = kWarpCols / (4 * kUnitHalves);

constexpr float kInputScale = 0x1p-8F;
constexpr float kLowScale = 0x1p11F;

/// Where a lane's weights of one stage lie: kSteps loads of 16 bytes per feature, 4 * kStepCols columns
/// apart.
template <ElementType type>
struct Layout {
    static constexpr int kStepCols = 128 / element_bits(type);  // of one lane and load
    static constexpr int kSteps = kWarpCols / (4 * kStepCols);
    static constexpr int kQuartersPerStep = kQuarters / kSteps;
    static constexpr int kBits = element_bits(type);
};

/// First of the 8 columns that unit `quarter` of lane t holds, within the 128 of its warp.
template <ElementType type>
__device__ int unit_col(int quarter, int t) {
    using L = Layout<type>;
    return quarter / L::kQuartersPerStep * 4 * L::kStepCols + t * L::kStepCols +
           quarter % L::kQuartersPerStep * kUnitHalves;
}

/// Column of position p of a unit, relative to its first: the order in which unpack_unit() delivers.
template <ElementType type>
__device__ int unit_order(int p) {
    constexpr int kInt4Order[kUnitHalves] = {1, 5, 0, 4, 3, 7, 2, 6};
    return type == ElementType::kInt4 ? kInt4Order[p] : p;
}

__device__ std::uint32_t subtract_halves(std::uint32_t pair, unsigned short offset) {
    const __half2 halves = *reinterpret_cast<const __half2*>(&pair);
    const __half2 difference = __hsub2(halves, __half2half2(__ushort_as_half(offset)));
    return *reinterpret_cast<const std::uint32_t*>(&difference);
}

__device__ std::uint32_t word_of(const uint4& bits, int word) {
    return word == 0 ? bits.x : word == 1 ? bits.y : word == 2 ? bits.z : bits.w;
}

/// The 8 weights of unit `quarter_in_step` of a 16-byte load as 4 pairs of halves. An integer q becomes the
/// half 1024 + offset + q by placing its bits in the mantissa of 1024 (0x6400), and loses the offset in one
/// exact subtraction.
template <ElementType type>
__device__ void unpack_unit(const uint4& bits, int quarter_in_step, std::uint32_t (&pairs)[4]) {
    if constexpr (type == ElementType::kFloat16) {
#pragma unroll
        for (int i = 0; i < 4; ++i) pairs[i] = word_of(bits, i);
    } else if constexpr (type == ElementType::kInt8) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const std::uint32_t biased = word_of(bits, 2 * quarter_in_step + i) ^ 0x80808080U;  // q + 128
            pairs[2 * i] = subtract_halves(__byte_perm(biased, 0x64646464U, 0x4140), 0x6480);
            pairs[2 * i + 1] = subtract_halves(__byte_perm(biased, 0x64646464U, 0x4342), 0x6480);
        }
    } else {
        const std::uint32_t word = word_of(bits, quarter_in_step);
#pragma unroll
        for (int i = 0; i < 4; ++i) {  // nibbles i and i + 4, low nibbles are odd columns; q + 8 = nibble ^ 8
            pairs[i] = subtract_halves(((word >> (4 * i)) & 0x000F000FU) ^ 0x64086408U, 0x6408);
        }
    }
}

/// hi and lo of x, see the head of this file.
__device__ void split_activation(float x, __half& high, __half& low) {
    const float scaled = x * kInputScale;
    high = __float2half_rn(scaled);
    low = __float2half_rn((scaled - __half2float(high)) * kLowScale);
}

/// Writes the units of x for the columns first_col … of this stage: column 2m of B is hi of row m, column 2m
/// + 1 is lo.
template <ElementType type, int kColumns, int kWarps>
__device__ void stage_activations(const float* x, int rows, int in_features, int first_col, __half* staged) {
    constexpr int kUnits = kWarps * kQuarters * 4;  // per row
    for (int item = static_cast<int>(threadIdx.x); item < kUnits * (kColumns / 2);
         item += kWarps * kWarpSize) {
        const int row = item / kUnits;
        const int t = item % 4;
        const int warp_quarter = item % kUnits / 4;
        const int col =
            first_col + warp_quarter / kQuarters * kWarpCols + unit_col<type>(warp_quarter % kQuarters, t);
        __half high[kUnitHalves];
        __half low[kUnitHalves];
        float values[kUnitHalves] = {};
        if (row < rows && col < in_features) {
            const float* source = x + std::int64_t{row} * in_features + col;
#pragma unroll
            for (int first = 0; first < kUnitHalves; first += 4) {
                const Float4 four = load_float4(source + first);
#pragma unroll
                for (int i = 0; i < 4; ++i) values[first + i] = four.value[i];
            }
        }
#pragma unroll
        for (int p = 0; p < kUnitHalves; ++p) split_activation(values[unit_order<type>(p)], high[p], low[p]);
        __half* unit = staged + ((warp_quarter * kColumns + 2 * row) * 4 + t) * kUnitHalves;
        st16(unit, pack_halves(high));
        st16(unit + 4 * kUnitHalves, pack_halves(low));
    }
}

/// Columns of B that exist: 2 per row. mma takes 8 at a time; for one row the others repeat these and are
/// not looked at.
template <int kColumns>
struct Columns {
    static constexpr int kMmaTiles = kColumns < 8 ? 1 : kColumns / 8;
    static constexpr int kRows = kColumns / 2;
};

template <int kMmaTiles>
using Accumulators = float[kTiles][kMmaTiles][4];

/// accumulators += the 128 columns of this warp and stage.
template <ElementType type, int kColumns>
__device__ void multiply_stage(const uint4 (&weights)[kTiles][2][Layout<type>::kSteps], const __half* staged,
                               Accumulators<Columns<kColumns>::kMmaTiles>& accumulators) {
    using L = Layout<type>;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int g = lane / 4;
    const int t = lane % 4;
#pragma unroll
    for (int quarter = 0; quarter < kQuarters; ++quarter) {
        std::uint32_t a[kTiles][2][4];  // [tile][step]
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
            for (int half = 0; half < 2; ++half) {  // feature g or g + 8
                std::uint32_t pairs[4];
                unpack_unit<type>(weights[tile][half][quarter / L::kQuartersPerStep],
                                  quarter % L::kQuartersPerStep, pairs);
#pragma unroll
                for (int i = 0; i < 4; ++i) a[tile][i / 2][i % 2 * 2 + half] = pairs[i];
            }
        }
#pragma unroll
        for (int j = 0; j < Columns<kColumns>::kMmaTiles; ++j) {
            const int column = (8 * j + g) % kColumns;
            const uint4 unit =
                ld16(staged + (((warp * kQuarters + quarter) * kColumns + column) * 4 + t) * kUnitHalves);
            const std::uint32_t b[2][2] = {{unit.x, unit.y}, {unit.z, unit.w}};
#pragma unroll
            for (int tile = 0; tile < kTiles; ++tile) {
                mma_m16n8k16(accumulators[tile][j], a[tile][0], b[0]);
                mma_m16n8k16(accumulators[tile][j], a[tile][1], b[1]);
            }
        }
    }
}

/// First feature of a tile, and whether the tile's features are gate (0) and up (1) or just follow each
/// other.
__device__ int tile_feature(const LinearArguments& arguments, int tile) {
    if (arguments.output == LinearOutput::kSwiglu) {
        return static_cast<int>(blockIdx.x) * kPairs + tile * (arguments.weight.out_features / 2);
    }
    return static_cast<int>(blockIdx.x) * 2 * kPairs + tile * kTileFeatures;
}

/// Row `pair` of the block's sums and its partner: see feature_pair().
struct PairRows {
    int first;
    int second;
};
__device__ PairRows pair_rows(const LinearArguments& arguments, int pair) {
    if (arguments.output == LinearOutput::kSwiglu) return {pair, pair + kTileFeatures};
    return {2 * pair, 2 * pair + 1};
}

/// Adds up the warps' sums [warp][feature][row] and stores.
template <int kRows, int kWarps>
__device__ void finish_block(const LinearArguments& arguments, const float* sums) {
    constexpr int kFeatures = kTiles * kTileFeatures;
    const int num_pairs = num_output_pairs(arguments);
    for (int item = static_cast<int>(threadIdx.x); item < kPairs * kRows; item += kWarps * kWarpSize) {
        const int row = item / kPairs;
        const int pair = static_cast<int>(blockIdx.x) * kPairs + item % kPairs;
        if (row >= arguments.rows || pair >= num_pairs) continue;
        const PairRows rows = pair_rows(arguments, item % kPairs);
        float first = 0.0F;
        float second = 0.0F;
#pragma unroll
        for (int warp = 0; warp < kWarps; ++warp) {
            first += sums[(warp * kFeatures + rows.first) * kRows + row];
            second += sums[(warp * kFeatures + rows.second) * kRows + row];
        }
        const FeaturePair features = feature_pair(arguments, pair);
        const int last = arguments.weight.out_features - 1;
        finish_pair(arguments, row, features, first * row_scale(arguments.weight, features.first),
                    second * row_scale(arguments.weight, min(features.second, last)));
    }
}

template <ElementType type, bool kGrouped, int kColumns, int kWarps>
__global__ void __launch_bounds__(kWarps* kWarpSize, kWarps == 4 ? 3 : 2)
    linear_mma_kernel(LinearArguments arguments) {
    using L = Layout<type>;
    constexpr int kMmaTiles = Columns<kColumns>::kMmaTiles;
    constexpr int kRows = Columns<kColumns>::kRows;
    constexpr int kStagedHalves = kColumns * kWarpCols * kWarps;
    static_assert(kStagedHalves * 2 >= kWarps * kTiles * kTileFeatures * kRows * 4,
                  "the sums reuse this memory");
    GLM_SHARED(uint4, shared, [kStagedHalves / kUnitHalves]);
    auto* staged = reinterpret_cast<__half*>(&shared[0]);

    const WeightView& weight = arguments.weight;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
    const int g = lane / 4;
    const int t = lane % 4;
    const std::int64_t row_bytes = std::int64_t{weight.in_features} * L::kBits / 8;
    int features[kTiles][2];
    const unsigned char* sources[kTiles][2];
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            features[tile][half] = min(tile_feature(arguments, tile) + g + 8 * half, weight.out_features - 1);
            sources[tile][half] =
                static_cast<const unsigned char*>(weight.data) + features[tile][half] * row_bytes + t * 16;
        }
    }

    Accumulators<kMmaTiles> sums = {};
    for (int first_col = 0; first_col < weight.in_features; first_col += kWarpCols * kWarps) {
        const int col = first_col + warp * kWarpCols;
        const bool has_work = col < weight.in_features;  // the same for all lanes: in_features % 128 == 0
        uint4 weights[kTiles][2][L::kSteps] = {};
        if (has_work) {
#pragma unroll
            for (int step = 0; step < L::kSteps; ++step) {
#pragma unroll
                for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
                    for (int half = 0; half < 2; ++half) {
                        weights[tile][half][step] =
                            ld16(sources[tile][half] + std::int64_t{col} * L::kBits / 8 + step * 64);
                    }
                }
            }
        }
        __syncthreads();  // nobody reads the previous stage any more
        stage_activations<type, kColumns, kWarps>(arguments.x, arguments.rows, weight.in_features, first_col,
                                                  staged);
        __syncthreads();
        if (!has_work) continue;
        if constexpr (!kGrouped) {
            multiply_stage<type, kColumns>(weights, staged, sums);
        } else {
            Accumulators<kMmaTiles> group_sums = {};
            multiply_stage<type, kColumns>(weights, staged, group_sums);
#pragma unroll
            for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const float scale = group_scale(weight, features[tile][half], col);
#pragma unroll
                    for (int j = 0; j < kMmaTiles; ++j) {
#pragma unroll
                        for (int i = 2 * half; i < 2 * half + 2; ++i) {
                            sums[tile][j][i] += scale * group_sums[tile][j][i];
                        }
                    }
                }
            }
        }
    }

    __syncthreads();  // the staged activations are done with
    auto* block_sums = reinterpret_cast<float*>(&shared[0]);
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
#pragma unroll
        for (int j = 0; j < kMmaTiles; ++j) {
            const int row = 4 * j + t;  // columns 8j + 2t and 8j + 2t + 1 are hi and lo of this row
            if (row >= kRows) continue;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const float high = sums[tile][j][2 * half];
                const float low = sums[tile][j][2 * half + 1];
                const int feature = tile * kTileFeatures + g + 8 * half;
                block_sums[(warp * kTiles * kTileFeatures + feature) * kRows + row] =
                    (high + low * (1.0F / kLowScale)) * (1.0F / kInputScale);
            }
        }
    }
    __syncthreads();
    finish_block<kRows, kWarps>(arguments, block_sums);
}

template <ElementType type, bool kGrouped, int kColumns, int kWarps>
cudaError_t launch_mma(const LinearArguments& arguments, cudaStream_t stream) {
    const auto blocks = static_cast<unsigned>(ceil_div(num_output_pairs(arguments), kPairs));
    return launch(linear_mma_kernel<type, kGrouped, kColumns, kWarps>,
                  LaunchCfg{blocks, kWarps * kWarpSize, 0, stream}, arguments);
}

template <ElementType type, bool kGrouped>
cudaError_t launch_for_rows(const LinearArguments& arguments, cudaStream_t stream) {
    if (arguments.rows == 1) return launch_mma<type, kGrouped, 2, 8>(arguments, stream);
    if (arguments.rows <= 4) return launch_mma<type, kGrouped, 8, 8>(arguments, stream);
    if (arguments.rows <= 8) return launch_mma<type, kGrouped, 16, 8>(arguments, stream);
    return launch_mma<type, kGrouped, 32, 4>(arguments, stream);
}

template <ElementType type>
cudaError_t launch_for_scales(const LinearArguments& arguments, cudaStream_t stream) {
    if (arguments.weight.scale_layout == ScaleLayout::kPerGroup)
        return launch_for_rows<type, true>(arguments, stream);
    return launch_for_rows<type, false>(arguments, stream);
}

}  // namespace

bool linear_mma_supports(const WeightView& weight) {
    const bool known_type = weight.type == ElementType::kFloat16 || weight.type == ElementType::kInt8 ||
                            weight.type == ElementType::kInt4;
    const bool whole_groups =
        weight.scale_layout != ScaleLayout::kPerGroup || weight.group_size % kWarpCols == 0;
    return known_type && whole_groups && weight.in_features % kWarpCols == 0 &&
           reinterpret_cast<std::uintptr_t>(weight.data) % 16 == 0;
}

cudaError_t linear_mma(const LinearArguments& arguments, cudaStream_t stream) {
    if (arguments.rows == 0) return cudaSuccess;
    if (arguments.rows > kMaxMmaRows || !linear_mma_supports(arguments.weight)) return cudaErrorInvalidValue;
    switch (arguments.weight.type) {
        case ElementType::kFloat16:
            return launch_for_rows<ElementType::kFloat16, false>(arguments, stream);
        case ElementType::kInt8:
            return launch_for_scales<ElementType::kInt8>(arguments, stream);
        default:
            return launch_for_scales<ElementType::kInt4>(arguments, stream);
    }
}

}  // namespace glmchat::kernels::cuda
