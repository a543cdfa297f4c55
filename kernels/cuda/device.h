#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#if defined(GLM_EMU)
#include "cuda_emulator/device.h"
#endif

/// The only way from a kernel to the device: launches, shared memory, and every instruction that C++ cannot
/// spell. The same kernel source compiles with nvcc and, with GLM_EMU defined, as plain C++ against
/// tests/cuda_emulator.
///
/// What a kernel may assume about the device is compute capability 7.5. Wrappers that need 8.0 have a form
/// for 7.5 below, with the same result; it is chosen by __CUDA_ARCH__ when the kernel is compiled.

#if defined(GLM_EMU)

/// GLM_SHARED(float, tile, [32][33]): a shared array of the block, 16-byte aligned. Not inside a branch that
/// only some threads enter.
#define GLM_SHARED(type, name, extents)               \
    static constexpr char name##_declaration = 0;     \
    using name##_array = type extents;                \
    name##_array& name = *static_cast<name##_array*>( \
        emu::shared_array(&name##_declaration, sizeof(name##_array), emu::Site{__FILE__, __LINE__}))

/// GLM_DYN_SHARED(half, buf): pointer to the LaunchCfg::smem bytes of the launch, 16-byte aligned.
#define GLM_DYN_SHARED(type, name) \
    type* const name = static_cast<type*>(emu::dynamic_shared_memory(emu::Site{__FILE__, __LINE__}))

#else

#define GLM_SHARED(type, name, extents) __shared__ __align__(16) type name extents

#define GLM_DYN_SHARED(type, name)                                  \
    extern __shared__ __align__(16) unsigned char glm_dyn_shared[]; \
    type* const name = reinterpret_cast<type*>(glm_dyn_shared)

#endif

namespace glmchat::kernels::cuda {

#if defined(GLM_EMU)

using emu::cp_async16;
using emu::cp_async_commit;
using emu::cp_async_wait;
using emu::launch;
using emu::LaunchCfg;
using emu::ld16;
using emu::ldmatrix_x4;
using emu::ldmatrix_x4_trans;
using emu::mma_m16n8k16;
using emu::mma_m16n8k16_bf16;
using emu::mma_m16n8k16_s8;
using emu::mma_m16n8k32_s8;
using emu::st16;

#else

/// Extent of a launch. `smem` counts the dynamic shared memory alone, in bytes.
struct LaunchCfg {
    dim3 grid;
    dim3 block;
    std::size_t smem = 0;
    cudaStream_t stream = nullptr;
};

/// Enqueues kernel(args...). Arguments are converted to the parameter types and copied before this returns.
/// @return what the launch itself reported; errors of the running kernel appear at the next synchronisation.
template <typename... Params, typename... Args>
cudaError_t launch(void (*kernel)(Params...), const LaunchCfg& config, Args&&... args) {
    static_assert(sizeof...(Params) == sizeof...(Args), "as many arguments as the kernel has parameters");
    cudaLaunchConfig_t launch_config = {};
    launch_config.gridDim = config.grid;
    launch_config.blockDim = config.block;
    launch_config.dynamicSmemBytes = config.smem;
    launch_config.stream = config.stream;
    return cudaLaunchKernelEx(&launch_config, kernel, static_cast<Params>(args)...);
}

/// 16 bytes at a 16-byte aligned address of global or shared memory, in one access.
__device__ __forceinline__ uint4 ld16(const void* source) {
    return *static_cast<const uint4*>(source);
}
__device__ __forceinline__ void st16(void* destination, const uint4& value) {
    *static_cast<uint4*>(destination) = value;
}

#if defined(__CUDA_ARCH__)

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

#if __CUDA_ARCH__ >= 800

/// Starts copying src_bytes (0 to 16) from global to shared memory and zeroes the rest of the 16 bytes; both
/// addresses 16-byte aligned. The bytes may be read after cp_async_wait of their group, by other threads also
/// only after a barrier. Needs 8.0; on 7.5 the copy is made at once.
__device__ __forceinline__ void cp_async16(void* destination, const void* source, int src_bytes = 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;\n" ::"r"(shared_address(destination)),
                 "l"(source), "r"(src_bytes)
                 : "memory");
}
/// Closes a group of this thread's copies.
__device__ __forceinline__ void cp_async_commit() {
    asm volatile("cp.async.commit_group;\n" ::: "memory");
}
/// Waits until at most the newest kNewest groups of this thread are unfinished.
template <int kNewest>
__device__ __forceinline__ void cp_async_wait() {
    asm volatile("cp.async.wait_group %0;\n" ::"n"(kNewest) : "memory");
}

#else

__device__ __forceinline__ void cp_async16(void* destination, const void* source, int src_bytes = 16) {
    if (src_bytes == 16) {
        st16(destination, ld16(source));
        return;
    }
    for (int i = 0; i < 16; ++i) {
        static_cast<char*>(destination)[i] = i < src_bytes ? static_cast<const char*>(source)[i] : '\0';
    }
}
__device__ __forceinline__ void cp_async_commit() {}
template <int kNewest>
__device__ __forceinline__ void cp_async_wait() {}

#endif

/// Four 8x8 matrices of 16-bit elements from shared memory. Lane 8m + r passes the 16-byte aligned address of
/// row r of matrix m; lane 4r + t receives elements 2t and 2t + 1 of row r of matrix m in registers[m]. All
/// lanes take part. Needs 7.5.
__device__ __forceinline__ void ldmatrix_x4(std::uint32_t (&registers)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(shared_address(row))
                 : "memory");
}
/// The same, each matrix transposed: lane 4r + t receives rows 2t and 2t + 1 of column r.
__device__ __forceinline__ void ldmatrix_x4_trans(std::uint32_t (&registers)[4], const void* row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\n"
                 : "=r"(registers[0]), "=r"(registers[1]), "=r"(registers[2]), "=r"(registers[3])
                 : "r"(shared_address(row))
                 : "memory");
}

// c += a * b over a warp: a [16, k] row-major, b [k, 8], c [16, 8]. With g = lane / 4, t = lane % 4:
//   c[i] is row g + 8 * (i / 2), column 2t + i % 2, for every form;
//   16-bit, k = 16: a[i] holds row g + 8 * (i % 2), k = 2t + 8 * (i / 2) and the next; b[i] holds k = 2t + 8i
//   and the next of
//     column g; the lower k in the lower half;
//   8-bit: a[i] holds row g + 8 * (i % 2), k = 4t + 16 * (i / 2) to the third next; b[i] k = 4t + 16i … of
//   column g; lower
//     k in the lower byte.
// All lanes of the warp take part.

#if __CUDA_ARCH__ >= 800

/// FP16 products, float32 sums. Needs 8.0; two m16n8k8 on 7.5.
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// BF16 products, float32 sums. Needs 8.0; plain float32 arithmetic on 7.5 (correct, slow).
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&c)[4], const std::uint32_t (&a)[4],
                                                  const std::uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/// INT8 products, int32 sums. Needs 8.0; two m8n8k16 on 7.5.
__device__ __forceinline__ void mma_m16n8k16_s8(int (&c)[4], const std::uint32_t (&a)[2], std::uint32_t b) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, "
        "%3};\n"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
}

/// INT8 products, int32 sums, 32 columns of k. Needs 8.0; four m8n8k16 on 7.5.
__device__ __forceinline__ void mma_m16n8k32_s8(int (&c)[4], const std::uint32_t (&a)[4],
                                                const std::uint32_t (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, "
        "%1, %2, %3};\n"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#else

__device__ __forceinline__ void mma_m16n8k8(float (&c)[4], std::uint32_t a0, std::uint32_t a1,
                                            std::uint32_t b) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, "
        "%3};\n"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a0), "r"(a1), "r"(b));
}
__device__ __forceinline__ void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4],
                                             const std::uint32_t (&b)[2]) {
    mma_m16n8k8(c, a[0], a[1], b[0]);
    mma_m16n8k8(c, a[2], a[3], b[1]);
}

__device__ __forceinline__ float bf16_product(std::uint32_t x, std::uint32_t y) {
    return __uint_as_float(x << 16) * __uint_as_float(y << 16) +
           __uint_as_float(x & 0xFFFF0000U) * __uint_as_float(y & 0xFFFF0000U);
}
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&c)[4], const std::uint32_t (&a)[4],
                                                  const std::uint32_t (&b)[2]) {
    const int lane = static_cast<int>(threadIdx.x & 31U);
    const int group = lane / 4;
    const int col = lane % 4 * 2;
#pragma unroll
    for (int t = 0; t < 4; ++t) {
#pragma unroll
        for (int k_half = 0; k_half < 2; ++k_half) {
            const std::uint32_t rows[2] = {__shfl_sync(0xFFFFFFFFU, a[2 * k_half], 4 * group + t),
                                           __shfl_sync(0xFFFFFFFFU, a[2 * k_half + 1], 4 * group + t)};
            const std::uint32_t cols[2] = {__shfl_sync(0xFFFFFFFFU, b[k_half], 4 * col + t),
                                           __shfl_sync(0xFFFFFFFFU, b[k_half], 4 * (col + 1) + t)};
#pragma unroll
            for (int i = 0; i < 4; ++i) c[i] += bf16_product(rows[i / 2], cols[i % 2]);
        }
    }
}

__device__ __forceinline__ void mma_m8n8k16_s8(int& c0, int& c1, std::uint32_t a, std::uint32_t b) {
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};\n"
                 : "+r"(c0), "+r"(c1)
                 : "r"(a), "r"(b));
}
__device__ __forceinline__ void mma_m16n8k16_s8(int (&c)[4], const std::uint32_t (&a)[2], std::uint32_t b) {
    mma_m8n8k16_s8(c[0], c[1], a[0], b);
    mma_m8n8k16_s8(c[2], c[3], a[1], b);
}
__device__ __forceinline__ void mma_m16n8k32_s8(int (&c)[4], const std::uint32_t (&a)[4],
                                                const std::uint32_t (&b)[2]) {
    mma_m16n8k16_s8(c, {a[0], a[1]}, b[0]);
    mma_m16n8k16_s8(c, {a[2], a[3]}, b[1]);
}

#endif  // __CUDA_ARCH__ >= 800

#else  // nvcc's host pass: declarations are enough, nothing is called

__device__ void cp_async16(void* destination, const void* source, int src_bytes = 16);
__device__ void cp_async_commit();
template <int kNewest>
__device__ void cp_async_wait();
__device__ void ldmatrix_x4(std::uint32_t (&registers)[4], const void* row);
__device__ void ldmatrix_x4_trans(std::uint32_t (&registers)[4], const void* row);
__device__ void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);
__device__ void mma_m16n8k16_bf16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);
__device__ void mma_m16n8k16_s8(int (&c)[4], const std::uint32_t (&a)[2], std::uint32_t b);
__device__ void mma_m16n8k32_s8(int (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]);

#endif  // __CUDA_ARCH__

#endif  // GLM_EMU

/// Lets `kernel` take more than 48 KiB of shared memory in all; call once before the first such launch. What
/// the device has is cudaDevAttrMaxSharedMemoryPerBlockOptin.
template <typename... Params>
cudaError_t allow_dynamic_shared(void (*kernel)(Params...), std::size_t bytes) {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes));
}

}  // namespace glmchat::kernels::cuda
