#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/half.h"

namespace glmchat::kernels {

/// Four lanes in the vector extension that GCC and Clang have for every processor.
///
/// A Simd type is what the templates of this folder are instantiated with, one per instruction set. Each is
/// used in one translation unit only, so no function compiled for a wide instruction set can be linked into
/// another one's place; for the same reason the templates call no inline function that is not a template on
/// Simd or a member of it.
struct SimdPortable {
    typedef float Reg __attribute__((vector_size(16)));
    static constexpr int kWidth = 4;     ///< float32 lanes of a Reg
    static constexpr int kTileRows = 4;  ///< rows of the register tile of tile_product.h (two vectors wide)
    static constexpr int kGemvSums = 8;  ///< sums that gemv.h keeps in registers

    static Reg zero() { return Reg{}; }
    static Reg broadcast(float value) { return Reg{value, value, value, value}; }
    static Reg load(const float* source) {
        return load_as<Reg>(source);
    }  // all loads and stores: any address
    static void store(float* target, Reg value) { std::memcpy(target, &value, sizeof(value)); }
    /// Asks for the cache line at `address`, any address, into the second-level cache.
    static void prefetch(const void* address) { __builtin_prefetch(address, 0, 2); }
    static Reg add(Reg a, Reg b) { return a + b; }
    static Reg sub(Reg a, Reg b) { return a - b; }
    static Reg mul(Reg a, Reg b) { return a * b; }
    static Reg div(Reg a, Reg b) { return a / b; }
    static Reg fma(Reg a, Reg b, Reg c) { return a * b + c; }  ///< fused or not
    static Reg max(Reg a, Reg b) { return a > b ? a : b; }     ///< b where either is NaN
    static Reg min(Reg a, Reg b) { return a < b ? a : b; }     ///< b where either is NaN
    static float reduce_add(Reg value) { return (value[0] + value[2]) + (value[1] + value[3]); }
    /// To the nearest integer; |value| < 2^22.
    static Reg round(Reg value) {
        const Reg shift = broadcast(0x1.8p23F);  // leaves no fraction bits
        return (value + shift) - shift;
    }
    /// value * 2^exponent; exponent is an integer in [-126, 127].
    static Reg times_power_of_two(Reg value, Reg exponent) {
        const Ints biased = __builtin_convertvector(exponent, Ints) + 127;
        return value * std::bit_cast<Reg>(biased << 23);
    }

    /// kWidth float16 numbers as float32, exactly.
    static Reg load_half(const void* source) {
        const Ints half = load_unsigned_shorts(source);
        const Ints magnitude = (half & 0x7FFF) << 13;
        // The multiplication rebiases the exponent, and normalises a subnormal on the way; infinity and NaN
        // keep theirs.
        const Ints rebiased = std::bit_cast<Ints>(std::bit_cast<Reg>(magnitude) * 0x1p112F);
        const Ints special = (magnitude >= 0x0F800000) & 0x7F800000;
        return std::bit_cast<Reg>(rebiased | special | ((half & 0x8000) << 16));
    }
    /// Rounds to nearest even.
    static void store_half(std::uint16_t* target, Reg value) {
        for (int i = 0; i < kWidth; ++i) target[i] = float_to_half(value[i]);
    }
    static float half_to_float(std::uint16_t half) { return kernels::half_to_float(half); }
    static Reg load_bfloat16(const void* source) {
        return std::bit_cast<Reg>(load_unsigned_shorts(source) << 16);
    }
    static Reg load_int8(const void* source) {
        return __builtin_convertvector(load_signed_bytes(source), Reg);
    }
    /// kWidth bytes: `even` gets the high nibbles (columns 0, 2, …), `odd` the low ones (columns 1, 3, …).
    static void load_int4(const void* source, Reg& even, Reg& odd) {
        const Ints bytes = load_signed_bytes(source);
        even = __builtin_convertvector(bytes >> 4, Reg);
        odd = __builtin_convertvector((bytes << 28) >> 28, Reg);
    }

    /// 2 * kWidth consecutive columns from their even and odd ones, and back.
    static void interleave(Reg even, Reg odd, Reg& first, Reg& second) {
        first = __builtin_shufflevector(even, odd, 0, 4, 1, 5);
        second = __builtin_shufflevector(even, odd, 2, 6, 3, 7);
    }
    static void deinterleave(Reg first, Reg second, Reg& even, Reg& odd) {
        even = __builtin_shufflevector(first, second, 0, 2, 4, 6);
        odd = __builtin_shufflevector(first, second, 1, 3, 5, 7);
    }
    static void transpose(Reg (&rows)[kWidth]) {
        const Reg ab_low = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
        const Reg ab_high = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
        const Reg cd_low = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
        const Reg cd_high = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
        rows[0] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
        rows[1] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
        rows[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
        rows[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
    }

  private:
    typedef std::int32_t Ints __attribute__((vector_size(16)));
    typedef std::uint16_t Shorts __attribute__((vector_size(16)));
    typedef std::int8_t Bytes __attribute__((vector_size(16)));

    template <typename Vector>
    static Vector load_as(const void* source) {
        Vector value;
        std::memcpy(&value, source, sizeof(value));
        return value;
    }
    // Widening by a shuffle with zeros (little-endian, as the files are); compilers make scalar code of a
    // conversion between vectors of different sizes.
    static Ints load_unsigned_shorts(const void* source) {
        Shorts values = {};
        std::memcpy(&values, source, kWidth * sizeof(std::uint16_t));
        return std::bit_cast<Ints>(__builtin_shufflevector(values, Shorts{}, 0, 8, 1, 8, 2, 8, 3, 8));
    }
    static Ints load_signed_bytes(const void* source) {
        Bytes values = {};
        std::memcpy(&values, source, kWidth);
        const Bytes upper = __builtin_shufflevector(values, Bytes{}, 16, 16, 16, 0, 16, 16, 16, 1, 16, 16, 16,
                                                    2, 16, 16, 16, 3);
        return std::bit_cast<Ints>(upper) >> 24;
    }
};

}  // namespace glmchat::kernels
