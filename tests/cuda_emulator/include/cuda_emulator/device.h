#pragma once

#include <cmath>

#include "cuda_emulator/core.h"

// The names that nvcc provides by itself. The real headers declare none of them under a plain C++ compiler.

#define threadIdx (emu::current->thread)
#define blockIdx (emu::grid.block)
#define blockDim (emu::grid.block_extent)
#define gridDim (emu::grid.grid_extent)

// --- synchronisation ---

inline void __syncthreads(emu::Site site = emu::here()) {
    emu::block_barrier(emu::Barrier::kPlain, 0, site);
}
inline int __syncthreads_count(int predicate, emu::Site site = emu::here()) {
    return emu::block_barrier(emu::Barrier::kCount, predicate, site);
}
inline int __syncthreads_and(int predicate, emu::Site site = emu::here()) {
    return emu::block_barrier(emu::Barrier::kAnd, predicate, site);
}
inline int __syncthreads_or(int predicate, emu::Site site = emu::here()) {
    return emu::block_barrier(emu::Barrier::kOr, predicate, site);
}
inline void __syncwarp(unsigned mask = 0xFFFFFFFFU, emu::Site site = emu::here()) {
    emu::vote(emu::Collective::kSyncWarp, mask, 0, site);
}
inline void __threadfence() {
    emu::thread_fence();
}
inline void __threadfence_block() {}
unsigned __activemask() = delete;  // says who happens to run together, which no kernel may depend on

// --- warp exchange ---

template <typename T>
T __shfl_sync(unsigned mask, T value, int lane, int width = 32, emu::Site site = emu::here()) {
    return emu::shuffle(emu::Collective::kShuffle, mask, value, lane, width, site);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, emu::Site site = emu::here()) {
    return emu::shuffle(emu::Collective::kShuffleUp, mask, value, static_cast<int>(delta), width, site);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32, emu::Site site = emu::here()) {
    return emu::shuffle(emu::Collective::kShuffleDown, mask, value, static_cast<int>(delta), width, site);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = 32, emu::Site site = emu::here()) {
    return emu::shuffle(emu::Collective::kShuffleXor, mask, value, lane_mask, width, site);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, emu::Site site = emu::here()) {
    return emu::vote(emu::Collective::kBallot, mask, predicate != 0, site);
}
inline int __all_sync(unsigned mask, int predicate, emu::Site site = emu::here()) {
    return static_cast<int>(emu::vote(emu::Collective::kAll, mask, predicate != 0, site));
}
inline int __any_sync(unsigned mask, int predicate, emu::Site site = emu::here()) {
    return static_cast<int>(emu::vote(emu::Collective::kAny, mask, predicate != 0, site));
}

// --- atomics ---

template <typename T>
T atomicAdd(T* address, std::type_identity_t<T> value, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [value](T before) { return static_cast<T>(before + value); }, site);
}
template <typename T>
T atomicSub(T* address, std::type_identity_t<T> value, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [value](T before) { return static_cast<T>(before - value); }, site);
}
template <typename T>
T atomicMin(T* address, std::type_identity_t<T> value, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [value](T before) { return value < before ? value : before; }, site);
}
template <typename T>
T atomicMax(T* address, std::type_identity_t<T> value, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [value](T before) { return before < value ? value : before; }, site);
}
template <typename T>
T atomicExch(T* address, std::type_identity_t<T> value, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [value](T) { return value; }, site);
}
template <typename T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value,
            emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [=](T before) { return before == expected ? value : before; }, site);
}
template <typename T>
T atomicAnd(T* address, std::type_identity_t<T> value, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [value](T before) { return static_cast<T>(before & value); }, site);
}
template <typename T>
T atomicOr(T* address, std::type_identity_t<T> value, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [value](T before) { return static_cast<T>(before | value); }, site);
}
template <typename T>
T atomicXor(T* address, std::type_identity_t<T> value, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [value](T before) { return static_cast<T>(before ^ value); }, site);
}
inline unsigned atomicInc(unsigned* address, unsigned limit, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [limit](unsigned before) { return before >= limit ? 0U : before + 1; }, site);
}
inline unsigned atomicDec(unsigned* address, unsigned limit, emu::Site site = emu::here()) {
    return emu::atomic_update(
        address, [limit](unsigned before) { return before == 0 || before > limit ? limit : before - 1; },
        site);
}

// --- loads and stores with a cache hint ---

namespace emu {
template <typename T>
T hinted_load(const T* address, Site site) {
    if constexpr (sizeof(T) == 16) {
        const uint4 bits = load16(address, site);
        T value;
        __builtin_memcpy(&value, &bits, sizeof(T));
        return value;
    } else {
        return *address;
    }
}
template <typename T>
void hinted_store(T* address, const T& value, Site site) {
    if constexpr (sizeof(T) == 16) {
        uint4 bits;
        __builtin_memcpy(&bits, &value, sizeof(T));
        store16(address, bits, site);
    } else {
        *address = value;
    }
}
}  // namespace emu

#define EMU_HINTED_LOAD(name)                                \
    template <typename T>                                    \
    T name(const T* address, emu::Site site = emu::here()) { \
        return emu::hinted_load(address, site);              \
    }
EMU_HINTED_LOAD(__ldg)
EMU_HINTED_LOAD(__ldca)
EMU_HINTED_LOAD(__ldcg)
EMU_HINTED_LOAD(__ldcs)
EMU_HINTED_LOAD(__ldlu)
EMU_HINTED_LOAD(__ldcv)
#undef EMU_HINTED_LOAD

#define EMU_HINTED_STORE(name)                                                                  \
    template <typename T>                                                                       \
    void name(T* address, const std::type_identity_t<T>& value, emu::Site site = emu::here()) { \
        emu::hinted_store(address, value, site);                                                \
    }
EMU_HINTED_STORE(__stwb)
EMU_HINTED_STORE(__stcg)
EMU_HINTED_STORE(__stcs)
EMU_HINTED_STORE(__stwt)
#undef EMU_HINTED_STORE

// --- bits and integers ---

inline int __popc(unsigned x) {
    return __builtin_popcount(x);
}
inline int __clz(int x) {
    return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
inline int __ffs(int x) {
    return __builtin_ffs(x);
}
unsigned __brev(unsigned x);
unsigned __byte_perm(unsigned low, unsigned high, unsigned selector);
int __dp4a(int a, int b, int sum);
unsigned __dp4a(unsigned a, unsigned b, unsigned sum);
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
    shift &= 31U;
    return shift == 0 ? high : (high << shift) | (low >> (32 - shift));
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
    shift &= 31U;
    return shift == 0 ? low : (high << (32 - shift)) | (low >> shift);
}
inline int __mul24(int a, int b) {
    return ((a << 8) >> 8) * ((b << 8) >> 8);
}
inline int __mulhi(int a, int b) {
    return static_cast<int>((static_cast<long long>(a) * b) >> 32);
}
inline unsigned __umulhi(unsigned a, unsigned b) {
    return static_cast<unsigned>((static_cast<unsigned long long>(a) * b) >> 32);
}

#define EMU_MIN_MAX(type)             \
    inline type min(type a, type b) { \
        return b < a ? b : a;         \
    }                                 \
    inline type max(type a, type b) { \
        return a < b ? b : a;         \
    }
EMU_MIN_MAX(int)
EMU_MIN_MAX(unsigned)
EMU_MIN_MAX(long)
EMU_MIN_MAX(unsigned long)
EMU_MIN_MAX(long long)
EMU_MIN_MAX(unsigned long long)
#undef EMU_MIN_MAX
inline float min(float a, float b) {
    return std::fmin(a, b);
}
inline float max(float a, float b) {
    return std::fmax(a, b);
}

// --- bits of floating-point numbers ---

inline unsigned __float_as_uint(float x) {
    return __builtin_bit_cast(unsigned, x);
}
inline int __float_as_int(float x) {
    return __builtin_bit_cast(int, x);
}
inline float __uint_as_float(unsigned x) {
    return __builtin_bit_cast(float, x);
}
inline float __int_as_float(int x) {
    return __builtin_bit_cast(float, x);
}

// --- float32 mathematics: exact where the GPU approximates ---

inline float rsqrtf(float x) {
    return 1.0F / std::sqrt(x);
}
inline float __frsqrt_rn(float x) {
    return 1.0F / std::sqrt(x);
}
inline float __fsqrt_rn(float x) {
    return std::sqrt(x);
}
inline float __frcp_rn(float x) {
    return 1.0F / x;
}
inline float __fdividef(float x, float y) {
    return x / y;
}
inline float __fdiv_rn(float x, float y) {
    return x / y;
}
inline float __fadd_rn(float x, float y) {
    return x + y;
}
inline float __fsub_rn(float x, float y) {
    return x - y;
}
inline float __fmul_rn(float x, float y) {
    return x * y;
}
inline float __fmaf_rn(float x, float y, float z) {
    return std::fma(x, y, z);
}
inline float __expf(float x) {
    return std::exp(x);
}
inline float __exp10f(float x) {
    return std::pow(10.0F, x);
}
inline float exp10f(float x) {
    return std::pow(10.0F, x);
}
inline float __logf(float x) {
    return std::log(x);
}
inline float __log2f(float x) {
    return std::log2(x);
}
inline float __powf(float x, float y) {
    return std::pow(x, y);
}
inline float __sinf(float x) {
    return std::sin(x);
}
inline float __cosf(float x) {
    return std::cos(x);
}
inline float __saturatef(float x) {
    return x > 0.0F ? std::fmin(x, 1.0F) : 0.0F;
}
inline float __int2float_rn(int x) {
    return static_cast<float>(x);
}
inline float __uint2float_rn(unsigned x) {
    return static_cast<float>(x);
}
/// A float to int, rounded; out of range goes to the nearest int and NaN to 0.
int __float2int_rn(float x);
int __float2int_rz(float x);
int __float2int_rd(float x);
int __float2int_ru(float x);

// --- what the real half headers leave out on the host ---

inline __half __hfma(__half a, __half b, __half c) {
    const double exact = static_cast<double>(__half2float(a)) * __half2float(b) + __half2float(c);
    return __double2half(exact);
}
inline __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
inline __nv_bfloat16 __hfma(__nv_bfloat16 a, __nv_bfloat16 b, __nv_bfloat16 c) {
    const double exact = static_cast<double>(__bfloat162float(a)) * __bfloat162float(b) + __bfloat162float(c);
    return __double2bfloat16(exact);
}
inline __nv_bfloat162 __hfma2(__nv_bfloat162 a, __nv_bfloat162 b, __nv_bfloat162 c) {
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}

#define EMU_HALF_FUNCTION(name, pair_name, expression)     \
    inline __half name(__half value) {                     \
        const float x = __half2float(value);               \
        return __float2half_rn(expression);                \
    }                                                      \
    inline __half2 pair_name(__half2 pair) {               \
        return {name(pair.x), name(pair.y)};               \
    }                                                      \
    inline __nv_bfloat16 name(__nv_bfloat16 value) {       \
        const float x = __bfloat162float(value);           \
        return __float2bfloat16_rn(expression);            \
    }                                                      \
    inline __nv_bfloat162 pair_name(__nv_bfloat162 pair) { \
        return {name(pair.x), name(pair.y)};               \
    }
EMU_HALF_FUNCTION(hexp, h2exp, std::exp(x))
EMU_HALF_FUNCTION(hexp2, h2exp2, std::exp2(x))
EMU_HALF_FUNCTION(hlog, h2log, std::log(x))
EMU_HALF_FUNCTION(hlog2, h2log2, std::log2(x))
EMU_HALF_FUNCTION(hsqrt, h2sqrt, std::sqrt(x))
EMU_HALF_FUNCTION(hrsqrt, h2rsqrt, 1.0F / std::sqrt(x))
EMU_HALF_FUNCTION(hrcp, h2rcp, 1.0F / x)
EMU_HALF_FUNCTION(hsin, h2sin, std::sin(x))
EMU_HALF_FUNCTION(hcos, h2cos, std::cos(x))
EMU_HALF_FUNCTION(htanh, h2tanh, std::tanh(x))
EMU_HALF_FUNCTION(hfloor, h2floor, std::floor(x))
EMU_HALF_FUNCTION(hceil, h2ceil, std::ceil(x))
EMU_HALF_FUNCTION(htrunc, h2trunc, std::trunc(x))
EMU_HALF_FUNCTION(hrint, h2rint, std::nearbyint(x))
#undef EMU_HALF_FUNCTION

inline int __half2int_rn(__half x) {
    return __float2int_rn(__half2float(x));
}
inline int __half2int_rd(__half x) {
    return __float2int_rd(__half2float(x));
}
inline int __half2int_ru(__half x) {
    return __float2int_ru(__half2float(x));
}
