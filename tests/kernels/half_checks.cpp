#include <bit>
#include <cmath>
#include <limits>

#include "tests/kernels/check_parts.h"
#include "tests/kernels/test_data.h"

#include "kernels/cpu/inner_kernels.h"
#include "kernels/half.h"

namespace glmchat::test {
namespace {

using kernels::IsaLevel;

constexpr std::uint32_t kNumHalves = 65536;

/// The value of a half from the definition of the format, in double.
double value_of(std::uint32_t half) {
    const int exponent = static_cast<int>((half >> 10) & 31);
    const double mantissa = half & 1023;
    const double sign = (half & 0x8000) != 0 ? -1.0 : 1.0;
    if (exponent == 31) {
        return mantissa == 0 ? sign * std::numeric_limits<double>::infinity()
                             : std::numeric_limits<double>::quiet_NaN();
    }
    if (exponent == 0) return sign * std::ldexp(mantissa, -24);
    return sign * std::ldexp(1024 + mantissa, exponent - 25);
}

bool same(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

std::string hex(std::uint32_t bits) {
    char text[16];
    std::snprintf(text, sizeof(text), "0x%08x", bits);
    return text;
}

CheckResult check_half_to_float() {
    for (std::uint32_t half = 0; half < kNumHalves; ++half) {
        if (!same(kernels::half_to_float(static_cast<std::uint16_t>(half)), value_of(half)))
            return failed(hex(half));
    }
    return passed();
}

/// The nearest half by trying: `lower` and the next larger magnitude are the only candidates; ties go to the
/// even one.
std::uint16_t nearest_half(float value, std::uint32_t lower) {
    // Above the largest finite half the next step would be 65536: rounding is as if it existed.
    const auto magnitude_of = [](std::uint32_t half) { return half == 0x7C00 ? 65536.0 : value_of(half); };
    const double to_lower = std::abs(double{value}) - magnitude_of(lower);
    const double to_upper = magnitude_of(lower + 1) - std::abs(double{value});
    const bool up = to_upper < to_lower || (to_upper == to_lower && lower % 2 == 1);
    return static_cast<std::uint16_t>((std::signbit(value) ? 0x8000U : 0U) | (lower + (up ? 1 : 0)));
}

struct RoundingCase {
    float value;
    std::uint16_t half;
};

/// Around every finite half: itself, the point halfway to its neighbour, and the floats next to both.
std::vector<RoundingCase> rounding_cases() {
    std::vector<RoundingCase> cases;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    for (std::uint32_t half = 0; half < 0x7C00; ++half) {
        const double next = half + 1 == 0x7C00 ? 65536.0 : value_of(half + 1);
        const auto exact = static_cast<float>(value_of(half));
        const auto middle = static_cast<float>((value_of(half) + next) / 2);
        for (const float value : {exact, std::nextafter(exact, kInfinity), std::nextafter(middle, 0.0F),
                                  middle, std::nextafter(middle, kInfinity)}) {
            cases.push_back({value, nearest_half(value, half)});
            cases.push_back({-value, nearest_half(-value, half)});
        }
    }
    cases.push_back({65536.0F, 0x7C00});
    cases.push_back({-3e38F, 0xFC00});
    cases.push_back({kInfinity, 0x7C00});
    return cases;
}

CheckResult check_float_to_half() {
    for (const RoundingCase& rounding : rounding_cases()) {
        if (kernels::float_to_half(rounding.value) != rounding.half) {
            return failed(hex(std::bit_cast<std::uint32_t>(rounding.value)));
        }
    }
    const std::uint16_t nan = kernels::float_to_half(std::numeric_limits<float>::quiet_NaN());
    return std::isnan(value_of(nan)) ? passed() : failed("NaN became a number");
}

/// bfloat16 is the upper half of a float32.
CheckResult check_bfloat16() {
    for (std::uint32_t bits = 0; bits < kNumHalves; ++bits) {
        const float value = kernels::bfloat16_to_float(static_cast<std::uint16_t>(bits));
        if (std::bit_cast<std::uint32_t>(value) != bits << 16) return failed(hex(bits));
        if (std::isnan(value)) {
            if (!std::isnan(kernels::bfloat16_to_float(kernels::float_to_bfloat16(value))))
                return failed(hex(bits));
            continue;
        }
        if (kernels::float_to_bfloat16(value) != bits) return failed(hex(bits));
        if ((bits & 0x7F80) == 0x7F80) continue;  // infinity has no neighbour
        const std::uint32_t even_of_tie = bits + (bits & 1);
        if (kernels::float_to_bfloat16(std::bit_cast<float>((bits << 16) | 0x7FFF)) != bits ||
            kernels::float_to_bfloat16(std::bit_cast<float>((bits << 16) | 0x8000)) != even_of_tie ||
            kernels::float_to_bfloat16(std::bit_cast<float>((bits << 16) | 0x8001)) != bits + 1) {
            return failed("rounding after " + hex(bits));
        }
    }
    return passed();
}

CheckResult check_simd_widening(IsaLevel level, kernels::ElementType type) {
    std::vector<std::uint16_t> bits(kNumHalves);
    for (std::uint32_t i = 0; i < kNumHalves; ++i) bits[i] = static_cast<std::uint16_t>(i);
    kernels::LinearWeight weight;
    weight.type = type;
    weight.data = bits.data();
    weight.out_features = 1;
    weight.in_features = kNumHalves;
    std::vector<float> values(kNumHalves);
    kernels::inner_kernels(level).dequantize(weight, 0, 0, kNumHalves, values.data());
    for (std::uint32_t i = 0; i < kNumHalves; ++i) {
        const float expected = type == kernels::ElementType::kFloat16 ? kernels::half_to_float(bits[i])
                                                                      : kernels::bfloat16_to_float(bits[i]);
        if (!same(values[i], expected)) return failed(hex(i));
    }
    return passed();
}

CheckResult check_simd_narrowing(IsaLevel level) {
    const std::vector<RoundingCase> cases = rounding_cases();
    std::vector<float> values;
    for (const RoundingCase& rounding : cases) values.push_back(rounding.value);
    std::vector<std::uint16_t> halves(values.size());
    kernels::inner_kernels(level).store_halves(values.data(), static_cast<std::int64_t>(values.size()),
                                               halves.data());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (halves[i] != cases[i].half) return failed(hex(std::bit_cast<std::uint32_t>(values[i])));
    }
    return passed();
}

}  // namespace

std::vector<Check> half_checks() {
    std::vector<Check> checks = {
        {"half/every half to float", check_half_to_float},
        {"half/float to half around every half", check_float_to_half},
        {"half/every bfloat16, and rounding around it", check_bfloat16},
    };
    add_per_isa(checks, "half/every half widened",
                [](IsaLevel level) { return check_simd_widening(level, kernels::ElementType::kFloat16); });
    add_per_isa(checks, "half/every bfloat16 widened",
                [](IsaLevel level) { return check_simd_widening(level, kernels::ElementType::kBFloat16); });
    add_per_isa(checks, "half/narrowed around every half", check_simd_narrowing);
    return checks;
}

}  // namespace glmchat::test
