#pragma once

#include <cstdint>

#include <immintrin.h>

namespace glmchat::kernels {

/// AVX2 + FMA + F16C. The members are explained in simd_portable.h.
struct SimdAvx2 {
    using Reg = __m256;
    static constexpr int kWidth = 8;
    static constexpr int kTileRows = 6;  // x 2 vectors = 12 accumulators of 16 registers
    static constexpr int kGemvSums = 8;

    static Reg zero() { return _mm256_setzero_ps(); }
    static Reg broadcast(float value) { return _mm256_set1_ps(value); }
    static Reg load(const float* source) { return _mm256_loadu_ps(source); }
    static void store(float* target, Reg value) { _mm256_storeu_ps(target, value); }
    static void prefetch(const void* address) { __builtin_prefetch(address, 0, 2); }
    static Reg add(Reg a, Reg b) { return _mm256_add_ps(a, b); }
    static Reg sub(Reg a, Reg b) { return _mm256_sub_ps(a, b); }
    static Reg mul(Reg a, Reg b) { return _mm256_mul_ps(a, b); }
    static Reg div(Reg a, Reg b) { return _mm256_div_ps(a, b); }
    static Reg fma(Reg a, Reg b, Reg c) { return _mm256_fmadd_ps(a, b, c); }
    static Reg max(Reg a, Reg b) { return _mm256_max_ps(a, b); }
    static Reg min(Reg a, Reg b) { return _mm256_min_ps(a, b); }
    static float reduce_add(Reg value) {
        const __m128 quarter = _mm_add_ps(_mm256_castps256_ps128(value), _mm256_extractf128_ps(value, 1));
        const __m128 pair = _mm_add_ps(quarter, _mm_movehl_ps(quarter, quarter));
        return _mm_cvtss_f32(_mm_add_ss(pair, _mm_movehdup_ps(pair)));
    }
    static Reg round(Reg value) {
        return _mm256_round_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    static Reg times_power_of_two(Reg value, Reg exponent) {
        const __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(exponent), _mm256_set1_epi32(127));
        return mul(value, _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23)));
    }

    static Reg load_half(const void* source) {
        return _mm256_cvtph_ps(_mm_loadu_si128(static_cast<const __m128i*>(source)));
    }
    static void store_half(std::uint16_t* target, Reg value) {
        const __m128i halves = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm_storeu_si128(reinterpret_cast<__m128i*>(target), halves);
    }
    static float half_to_float(std::uint16_t half) {
        return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
    }
    static Reg load_bfloat16(const void* source) {
        const __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i*>(source)));
        return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
    }
    static Reg load_int8(const void* source) { return _mm256_cvtepi32_ps(load_signed_bytes(source)); }
    static void load_int4(const void* source, Reg& even, Reg& odd) {
        const __m256i bytes = load_signed_bytes(source);
        even = _mm256_cvtepi32_ps(_mm256_srai_epi32(bytes, 4));
        odd = _mm256_cvtepi32_ps(_mm256_srai_epi32(_mm256_slli_epi32(bytes, 28), 28));
    }

    static void interleave(Reg even, Reg odd, Reg& first, Reg& second) {
        const Reg low = _mm256_unpacklo_ps(even, odd);
        const Reg high = _mm256_unpackhi_ps(even, odd);
        first = _mm256_permute2f128_ps(low, high, 0x20);
        second = _mm256_permute2f128_ps(low, high, 0x31);
    }
    static void deinterleave(Reg first, Reg second, Reg& even, Reg& odd) {
        const Reg low = _mm256_permute2f128_ps(first, second, 0x20);
        const Reg high = _mm256_permute2f128_ps(first, second, 0x31);
        even = _mm256_shuffle_ps(low, high, 0x88);
        odd = _mm256_shuffle_ps(low, high, 0xDD);
    }
    static void transpose(Reg (&rows)[kWidth]) {
        // 4x4 transposes inside the 128-bit halves, then one round that swaps halves.
        for (int i = 0; i < kWidth; i += 4) {
            const Reg ab_low = _mm256_unpacklo_ps(rows[i], rows[i + 1]);
            const Reg ab_high = _mm256_unpackhi_ps(rows[i], rows[i + 1]);
            const Reg cd_low = _mm256_unpacklo_ps(rows[i + 2], rows[i + 3]);
            const Reg cd_high = _mm256_unpackhi_ps(rows[i + 2], rows[i + 3]);
            rows[i] = _mm256_shuffle_ps(ab_low, cd_low, 0x44);
            rows[i + 1] = _mm256_shuffle_ps(ab_low, cd_low, 0xEE);
            rows[i + 2] = _mm256_shuffle_ps(ab_high, cd_high, 0x44);
            rows[i + 3] = _mm256_shuffle_ps(ab_high, cd_high, 0xEE);
        }
        for (int i = 0; i < 4; ++i) {
            const Reg top = rows[i];
            const Reg bottom = rows[i + 4];
            rows[i] = _mm256_permute2f128_ps(top, bottom, 0x20);
            rows[i + 4] = _mm256_permute2f128_ps(top, bottom, 0x31);
        }
    }

  private:
    static __m256i load_signed_bytes(const void* source) {
        return _mm256_cvtepi8_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(source)));
    }
};

}  // namespace glmchat::kernels
