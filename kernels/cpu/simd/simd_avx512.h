#pragma once

#include <cstdint>

#include <immintrin.h>

namespace glmchat::kernels {

/// AVX-512 F + BW + DQ + VL. The members are explained in simd_portable.h.
struct SimdAvx512 {
    using Reg = __m512;
    static constexpr int kWidth = 16;
    static constexpr int kTileRows = 12;  // x 2 vectors = 24 accumulators of 32 registers
    static constexpr int kGemvSums = 16;

    static Reg zero() { return _mm512_setzero_ps(); }
    static Reg broadcast(float value) { return _mm512_set1_ps(value); }
    static Reg load(const float* source) { return _mm512_loadu_ps(source); }
    static void store(float* target, Reg value) { _mm512_storeu_ps(target, value); }
    static void prefetch(const void* address) { __builtin_prefetch(address, 0, 2); }
    static Reg add(Reg a, Reg b) { return _mm512_add_ps(a, b); }
    static Reg sub(Reg a, Reg b) { return _mm512_sub_ps(a, b); }
    static Reg mul(Reg a, Reg b) { return _mm512_mul_ps(a, b); }
    static Reg div(Reg a, Reg b) { return _mm512_div_ps(a, b); }
    static Reg fma(Reg a, Reg b, Reg c) { return _mm512_fmadd_ps(a, b, c); }
    static Reg max(Reg a, Reg b) { return _mm512_max_ps(a, b); }
    static Reg min(Reg a, Reg b) { return _mm512_min_ps(a, b); }
    static float reduce_add(Reg value) { return _mm512_reduce_add_ps(value); }
    static Reg round(Reg value) {
        return _mm512_roundscale_ps(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    }
    static Reg times_power_of_two(Reg value, Reg exponent) { return _mm512_scalef_ps(value, exponent); }

    static Reg load_half(const void* source) {
        return _mm512_cvtph_ps(_mm256_loadu_si256(static_cast<const __m256i*>(source)));
    }
    static void store_half(std::uint16_t* target, Reg value) {
        const __m256i halves = _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), halves);
    }
    static float half_to_float(std::uint16_t half) {
        return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(half)));
    }
    static Reg load_bfloat16(const void* source) {
        const __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(static_cast<const __m256i*>(source)));
        return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
    }
    static Reg load_int8(const void* source) {
        return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(source))));
    }
    static void load_int4(const void* source, Reg& even, Reg& odd) {
        // A 16-entry table of floats, indexed by the low four bits of each lane, both extends the sign and
        // converts.
        const Reg table = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1);
        const __m512i bytes = _mm512_cvtepu8_epi32(_mm_loadu_si128(static_cast<const __m128i*>(source)));
        odd = _mm512_permutexvar_ps(bytes, table);
        even = _mm512_permutexvar_ps(_mm512_srli_epi32(bytes, 4), table);
    }

    static void interleave(Reg even, Reg odd, Reg& first, Reg& second) {
        const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
        const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
        first = _mm512_permutex2var_ps(even, low, odd);
        second = _mm512_permutex2var_ps(even, high, odd);
    }
    static void deinterleave(Reg first, Reg second, Reg& even, Reg& odd) {
        const __m512i evens = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
        const __m512i odds = _mm512_setr_epi32(1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
        even = _mm512_permutex2var_ps(first, evens, second);
        odd = _mm512_permutex2var_ps(first, odds, second);
    }
    static void transpose(Reg (&rows)[kWidth]) {
        // 4x4 transposes inside the 128-bit quarters, then two rounds that move whole quarters.
        for (int i = 0; i < kWidth; i += 4) {
            const Reg ab_low = _mm512_unpacklo_ps(rows[i], rows[i + 1]);
            const Reg ab_high = _mm512_unpackhi_ps(rows[i], rows[i + 1]);
            const Reg cd_low = _mm512_unpacklo_ps(rows[i + 2], rows[i + 3]);
            const Reg cd_high = _mm512_unpackhi_ps(rows[i + 2], rows[i + 3]);
            rows[i] = join_low(ab_low, cd_low);
            rows[i + 1] = join_high(ab_low, cd_low);
            rows[i + 2] = join_low(ab_high, cd_high);
            rows[i + 3] = join_high(ab_high, cd_high);
        }
        for (int i = 0; i < 4; ++i) {
            const Reg top_even = _mm512_shuffle_f32x4(rows[i], rows[i + 4], 0x88);
            const Reg top_odd = _mm512_shuffle_f32x4(rows[i], rows[i + 4], 0xDD);
            const Reg bottom_even = _mm512_shuffle_f32x4(rows[i + 8], rows[i + 12], 0x88);
            const Reg bottom_odd = _mm512_shuffle_f32x4(rows[i + 8], rows[i + 12], 0xDD);
            rows[i] = _mm512_shuffle_f32x4(top_even, bottom_even, 0x88);
            rows[i + 8] = _mm512_shuffle_f32x4(top_even, bottom_even, 0xDD);
            rows[i + 4] = _mm512_shuffle_f32x4(top_odd, bottom_odd, 0x88);
            rows[i + 12] = _mm512_shuffle_f32x4(top_odd, bottom_odd, 0xDD);
        }
    }

  private:
    static Reg join_low(Reg a, Reg b) {
        return _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
    }
    static Reg join_high(Reg a, Reg b) {
        return _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(a), _mm512_castps_pd(b)));
    }
};

}  // namespace glmchat::kernels
