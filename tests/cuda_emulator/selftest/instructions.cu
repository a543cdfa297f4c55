#include "tests/cuda_emulator/selftest/instructions.h"

#include "kernels/cuda/device.h"

namespace selftest {
namespace {

using namespace glmchat::kernels::cuda;

constexpr unsigned kAllLanes = 0xFFFFFFFFU;

__device__ int thread_index() {
    return static_cast<int>(threadIdx.x);
}

// --- mma; row and column of element i of a fragment as in the tables of the PTX manual ---

__device__ std::uint32_t pack16(const std::uint16_t* matrix, int row, int col, int row_step, int col_step,
                                int cols) {
    const std::uint32_t low = matrix[row * cols + col];
    const std::uint32_t high = matrix[(row + row_step) * cols + col + col_step];
    return low | high << 16;
}

template <bool kBf16>
__global__ void multiply_16bit(const std::uint16_t* a, const std::uint16_t* b, float* c) {
    const int group = thread_index() / 4;
    const int in_group = thread_index() % 4;
    std::uint32_t a_registers[4];
    for (int i = 0; i < 8; i += 2) {
        const int row = (0 <= i && i < 2) || (4 <= i && i < 6) ? group : group + 8;
        const int col = in_group * 2 + (i < 4 ? 0 : 8);
        a_registers[i / 2] = pack16(a, row, col, 0, 1, 16);
    }
    std::uint32_t b_registers[2];
    for (int i = 0; i < 4; i += 2) {
        b_registers[i / 2] = pack16(b, in_group * 2 + (i < 2 ? 0 : 8), group, 1, 0, 8);
    }
    float sums[4];
    for (int i = 0; i < 4; ++i) sums[i] = c[(i < 2 ? group : group + 8) * 8 + in_group * 2 + i % 2];
    if constexpr (kBf16) {
        mma_m16n8k16_bf16(sums, a_registers, b_registers);
    } else {
        mma_m16n8k16(sums, a_registers, b_registers);
    }
    for (int i = 0; i < 4; ++i) c[(i < 2 ? group : group + 8) * 8 + in_group * 2 + i % 2] = sums[i];
}

/// Four int8 along k, the lowest k in the lowest byte.
__device__ std::uint32_t pack8(const std::int8_t* first, int step) {
    std::uint32_t packed = 0;
    for (int i = 0; i < 4; ++i)
        packed |= static_cast<std::uint32_t>(static_cast<std::uint8_t>(first[i * step])) << (8 * i);
    return packed;
}

template <int kK>
__global__ void multiply_s8(const std::int8_t* a, const std::int8_t* b, int* c) {
    const int group = thread_index() / 4;
    const int in_group = thread_index() % 4;
    int sums[4];
    for (int i = 0; i < 4; ++i) sums[i] = c[(i < 2 ? group : group + 8) * 8 + in_group * 2 + i % 2];
    std::uint32_t a_registers[kK / 8];
    for (int i = 0; i < kK / 2; i += 4) {
        const int row = (0 <= i && i < 4) || (8 <= i && i < 12) ? group : group + 8;
        a_registers[i / 4] = pack8(a + row * kK + in_group * 4 + (i < 8 ? 0 : 16), 1);
    }
    std::uint32_t b_registers[kK / 16];
    for (int i = 0; i < kK / 4; i += 4) {
        b_registers[i / 4] = pack8(b + (in_group * 4 + (i < 4 ? 0 : 16)) * 8 + group, 8);
    }
    if constexpr (kK == 16) {
        mma_m16n8k16_s8(sums, a_registers, b_registers[0]);
    } else {
        mma_m16n8k32_s8(sums, a_registers, b_registers);
    }
    for (int i = 0; i < 4; ++i) c[(i < 2 ? group : group + 8) * 8 + in_group * 2 + i % 2] = sums[i];
}

__global__ void load_matrices_kernel(bool transposed, const std::uint16_t* rows, std::uint32_t* registers) {
    GLM_SHARED(std::uint16_t, tile, [32][8]);
    for (int i = 0; i < 8; ++i) tile[thread_index()][i] = rows[thread_index() * 8 + i];
    __syncwarp();
    std::uint32_t loaded[4];
    if (transposed) {
        ldmatrix_x4_trans(loaded, &tile[thread_index()][0]);
    } else {
        ldmatrix_x4(loaded, &tile[thread_index()][0]);
    }
    for (int i = 0; i < 4; ++i) registers[thread_index() * 4 + i] = loaded[i];
}

// --- warp and block functions ---

__global__ void warp_functions_kernel(std::uint32_t* results) {
    const int lane = thread_index();
    const auto value = static_cast<std::uint32_t>(lane * 3 + 1);
    const auto store = [&](int which, std::uint32_t result) { results[which * 32 + lane] = result; };
    store(kShfl, __shfl_sync(kAllLanes, value, 5, 16));
    store(kUp, __shfl_up_sync(kAllLanes, value, 3, 8));
    store(kDown, __shfl_down_sync(kAllLanes, value, 2));
    store(kXor, __shfl_xor_sync(kAllLanes, value, 9));
    store(kBallot, __ballot_sync(kAllLanes, lane % 3 == 0));
    store(kAllOf, static_cast<std::uint32_t>(__all_sync(kAllLanes, lane < 31)));
    store(kAnyOf, static_cast<std::uint32_t>(__any_sync(kAllLanes, lane == 31)));
    // Two halves of a warp, each with its own mask.
    const unsigned mask = lane < 16 ? 0x0000FFFFU : 0xFFFF0000U;
    store(kHalfMask, __shfl_xor_sync(mask, value, 15));
}

__global__ void barrier_functions_kernel(int* results) {
    const int odd = thread_index() % 2;
    const int count = __syncthreads_count(odd);
    const int all = __syncthreads_and(odd);
    const int any = __syncthreads_or(odd);
    atomicOr(&results[0], count);
    atomicOr(&results[1], all);
    atomicOr(&results[2], any);
}

__global__ void atomics_kernel(unsigned* results, float* sum) {
    const unsigned i = threadIdx.x;
    atomicAdd(&results[0], 1U);
    atomicMax(&results[1], i);
    atomicMin(&results[2], i);
    atomicOr(&results[3], 1U << (i % 32));
    atomicExch(&results[4], 7U);
    atomicCAS(&results[5], 0U, 9U);
    atomicInc(&results[6], 9U);
    atomicAdd(sum, 0.5F);
}

__global__ void integer_functions_kernel(unsigned* results) {
    results[0] = __byte_perm(0x03020100U, 0x07060504U, 0x7351U);
    results[1] = __byte_perm(0x80FF7F00U, 0U, 0xBA98U);
    results[2] =
        static_cast<unsigned>(__dp4a(static_cast<int>(0xFF02807FU), static_cast<int>(0x01FE0380U), 10));
    results[3] = __dp4a(0xFF02807FU, 0x01FE0380U, 10U);
    results[4] = static_cast<unsigned>(__popc(0xF0F00001U));
    results[5] = static_cast<unsigned>(__clz(0x00010000));
    results[6] = static_cast<unsigned>(__ffs(0x00010000));
    results[7] = __brev(0x80000001U);
    results[8] = __umulhi(0x80000000U, 6U);
    results[9] = static_cast<unsigned>(__float2int_rn(2.5F));
    results[10] = static_cast<unsigned>(__float2int_rn(3e10F));
    results[11] = __funnelshift_l(0x80000000U, 1U, 4U);
}

__global__ void half_functions_kernel(float x, float* results) {
    const __half2 pair = __float2half2_rn(x);
    results[0] = __low2float(__hfma2(pair, pair, pair));
    results[1] = __half2float(hexp(pair.x));
    results[2] = __high2float(h2rsqrt(pair));
    results[3] = __bfloat162float(hrcp(__float2bfloat16_rn(x)));
    results[4] = __half2float(hfloor(pair.x));
}

__global__ void partial_async_copy_kernel(const std::uint8_t* x, int count, std::uint8_t* y) {
    GLM_SHARED(std::uint8_t, tile, [32]);
    if (thread_index() < 2) {
        const int first = 16 * thread_index();
        const int bytes = min(max(count - first, 0), 16);
        cp_async16(&tile[first], bytes == 0 ? x : x + first, bytes);
    }
    cp_async_commit();
    cp_async_wait<0>();
    __syncthreads();
    y[thread_index()] = tile[thread_index()];
}

__constant__ int table[4];

__global__ void read_table_kernel(int* y, int count) {
    if (thread_index() < count) y[thread_index()] = table[thread_index()];
}

}  // namespace

cudaError_t multiply_tile(MmaForm form, const void* a, const void* b, void* c, cudaStream_t stream) {
    const LaunchCfg warp{1, 32, 0, stream};
    const auto* const a16 = static_cast<const std::uint16_t*>(a);
    const auto* const b16 = static_cast<const std::uint16_t*>(b);
    const auto* const a8 = static_cast<const std::int8_t*>(a);
    const auto* const b8 = static_cast<const std::int8_t*>(b);
    switch (form) {
        case MmaForm::kF16:
            return launch(multiply_16bit<false>, warp, a16, b16, static_cast<float*>(c));
        case MmaForm::kBf16:
            return launch(multiply_16bit<true>, warp, a16, b16, static_cast<float*>(c));
        case MmaForm::kS8K16:
            return launch(multiply_s8<16>, warp, a8, b8, static_cast<int*>(c));
        case MmaForm::kS8K32:
            return launch(multiply_s8<32>, warp, a8, b8, static_cast<int*>(c));
    }
    return cudaErrorInvalidValue;
}

cudaError_t load_matrices(bool transposed, const std::uint16_t* rows, std::uint32_t* registers,
                          cudaStream_t stream) {
    return launch(load_matrices_kernel, {1, 32, 0, stream}, transposed, rows, registers);
}

cudaError_t warp_functions(std::uint32_t* results, cudaStream_t stream) {
    return launch(warp_functions_kernel, {1, 32, 0, stream}, results);
}

cudaError_t barrier_functions(int* results, cudaStream_t stream) {
    return launch(barrier_functions_kernel, {1, 96, 0, stream}, results);
}

cudaError_t atomics(unsigned* results, float* sum, cudaStream_t stream) {
    return launch(atomics_kernel, {1, 96, 0, stream}, results, sum);
}

cudaError_t integer_functions(unsigned* results, cudaStream_t stream) {
    return launch(integer_functions_kernel, {1, 1, 0, stream}, results);
}

cudaError_t half_functions(float x, float* results, cudaStream_t stream) {
    return launch(half_functions_kernel, {1, 1, 0, stream}, x, results);
}

cudaError_t partial_async_copy(const std::uint8_t* x, int count, std::uint8_t* y, cudaStream_t stream) {
    return launch(partial_async_copy_kernel, {1, 32, 0, stream}, x, count, y);
}

cudaError_t set_table(const int* host_values, cudaStream_t stream) {
    return cudaMemcpyToSymbolAsync(table, host_values, sizeof table, 0, cudaMemcpyHostToDevice, stream);
}

cudaError_t read_table(int* y, int count, cudaStream_t stream) {
    return launch(read_table_kernel, {1, 32, 0, stream}, y, count);
}

}  // namespace selftest
