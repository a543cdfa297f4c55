#pragma once

#include <cstdint>

#include <cuda_runtime.h>

/// Kernels around single instructions, fed and read in the layouts that the PTX manual gives.
namespace selftest {

enum class MmaForm { kF16, kBf16, kS8K16, kS8K32 };

/// c [16, 8] += a [16, k] b [k, 8], row-major; elements of a and b as 16-bit patterns, or as int8. One warp.
cudaError_t multiply_tile(MmaForm form, const void* a, const void* b, void* c, cudaStream_t stream);

/// registers[lane][4] of ldmatrix from 32 rows of 8 16-bit elements.
cudaError_t load_matrices(bool transposed, const std::uint16_t* rows, std::uint32_t* registers,
                          cudaStream_t stream);

enum WarpResult : int { kShfl, kUp, kDown, kXor, kBallot, kAllOf, kAnyOf, kHalfMask, kNumWarpResults };
/// results[kNumWarpResults][32] from the input lane * 3 + 1. One warp.
cudaError_t warp_functions(std::uint32_t* results, cudaStream_t stream);

/// results[3] = number of threads of 96 with odd index, and whether all and any are odd, as each thread sees
/// it (or-ed).
cudaError_t barrier_functions(int* results, cudaStream_t stream);

/// Each of 96 threads adds 1, takes the maximum of its index, … : add, max, min, or, exchange count, float
/// add.
cudaError_t atomics(unsigned* results, float* sum, cudaStream_t stream);

/// results[i] of the integer functions on fixed operands, in the order of the table in
/// instruction_checks.cpp.
inline constexpr int kNumIntegerResults = 12;
cudaError_t integer_functions(unsigned* results, cudaStream_t stream);

/// out[i] = f(in[i]) in half precision: fma, exp, rsqrt, reciprocal, floor.
inline constexpr int kNumHalfResults = 5;
cudaError_t half_functions(float x, float* results, cudaStream_t stream);

/// y[i] = x[i] for i < count, copied 16 bytes at a time through shared memory asynchronously, the rest of y
/// [32] zero.
cudaError_t partial_async_copy(const std::uint8_t* x, int count, std::uint8_t* y, cudaStream_t stream);

/// y[block] = a table in constant memory [block], filled by set_table.
cudaError_t set_table(const int* host_values, cudaStream_t stream);
cudaError_t read_table(int* y, int count, cudaStream_t stream);

}  // namespace selftest
