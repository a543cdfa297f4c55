#pragma once

#include "kernels/cuda/device.h"

/// Small device functions that several kernels share.
namespace glmchat::kernels::cuda {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kAllLanes = 0xFFFFFFFFU;

template <typename T>
__host__ __device__ constexpr T ceil_div(T dividend, T divisor) {
    return (dividend + divisor - 1) / divisor;
}

/// The sum over all lanes, in every lane.
__device__ inline float warp_sum(float value) {
#pragma unroll
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(kAllLanes, value, offset);
    }
    return value;
}

/// x / (1 + e^-x); for a very negative x the exponential is infinite and the result -0.
__device__ inline float silu(float x) {
    return x / (1.0F + expf(-x));
}

/// Four consecutive floats at a 16-byte aligned address, in one access.
struct Float4 {
    float value[4];
};
__device__ inline Float4 load_float4(const float* source) {
    const uint4 bits = ld16(source);
    return {
        {__uint_as_float(bits.x), __uint_as_float(bits.y), __uint_as_float(bits.z), __uint_as_float(bits.w)}};
}
__device__ inline void store_float4(float* destination, const Float4& four) {
    st16(destination, make_uint4(__float_as_uint(four.value[0]), __float_as_uint(four.value[1]),
                                 __float_as_uint(four.value[2]), __float_as_uint(four.value[3])));
}

/// 8 halves as the 16 bytes they take in memory.
__device__ inline uint4 pack_halves(const __half (&halves)[8]) {
    const auto pair = [&](int i) {
        return static_cast<std::uint32_t>(__half_as_ushort(halves[i])) |
               static_cast<std::uint32_t>(__half_as_ushort(halves[i + 1])) << 16;
    };
    return make_uint4(pair(0), pair(2), pair(4), pair(6));
}

}  // namespace glmchat::kernels::cuda
