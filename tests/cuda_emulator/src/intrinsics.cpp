#include <climits>
#include <cmath>

#include "cuda_emulator/device.h"

unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; ++bit) reversed |= (x >> bit & 1U) << (31 - bit);
    return reversed;
}

/// Each selector nibble picks one of the eight bytes of {high, low}; its top bit repeats that byte's sign
/// instead.
unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
    const unsigned long long bytes = static_cast<unsigned long long>(high) << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; ++i) {
        const unsigned nibble = selector >> (4 * i) & 0xFU;
        unsigned byte = static_cast<unsigned>(bytes >> (8 * (nibble & 7U))) & 0xFFU;
        if ((nibble & 8U) != 0) byte = (byte & 0x80U) != 0 ? 0xFFU : 0U;
        result |= byte << (8 * i);
    }
    return result;
}

int __dp4a(int a, int b, int sum) {
    auto total = static_cast<unsigned>(sum);
    for (int i = 0; i < 4; ++i) {
        total += static_cast<unsigned>(static_cast<signed char>(a >> (8 * i)) *
                                       static_cast<signed char>(b >> (8 * i)));
    }
    return static_cast<int>(total);
}

unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
    for (int i = 0; i < 4; ++i) sum += (a >> (8 * i) & 0xFFU) * (b >> (8 * i) & 0xFFU);
    return sum;
}

namespace {

int saturated(float x) {
    if (std::isnan(x)) return 0;
    if (x >= 0x1p31F) return INT_MAX;
    if (x <= -0x1p31F) return INT_MIN;
    return static_cast<int>(x);
}

}  // namespace

int __float2int_rn(float x) {
    return saturated(std::nearbyint(x));
}
int __float2int_rz(float x) {
    return saturated(std::trunc(x));
}
int __float2int_rd(float x) {
    return saturated(std::floor(x));
}
int __float2int_ru(float x) {
    return saturated(std::ceil(x));
}
