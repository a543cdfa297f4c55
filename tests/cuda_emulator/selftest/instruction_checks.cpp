#include <cmath>
#include <random>

#include "tests/cuda_emulator/selftest/instructions.h"
#include "tests/cuda_emulator/selftest/selftest_support.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace selftest {
namespace {

using namespace glmchat::test;

constexpr int kRows = 16;
constexpr int kCols = 8;

template <typename T>
CheckResult equal(const std::vector<T>& actual, const std::vector<T>& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (actual[i] == expected[i]) continue;
        return failed("element " + std::to_string(i) + ": " + std::to_string(actual[i]) + ", expected " +
                      std::to_string(expected[i]));
    }
    return passed();
}

/// Small integers, so that every sum is exact in every format.
std::vector<int> random_integers(std::size_t count, unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<int> values(count);
    for (int& value : values) value = static_cast<int>(generator() % 31) - 15;
    return values;
}

std::vector<int> plain_product(const std::vector<int>& a, const std::vector<int>& b,
                               const std::vector<int>& c, int k) {
    std::vector<int> result = c;
    for (int row = 0; row < kRows; ++row) {
        for (int col = 0; col < kCols; ++col) {
            for (int i = 0; i < k; ++i) {
                result[static_cast<std::size_t>(row * kCols + col)] +=
                    a[static_cast<std::size_t>(row * k + i)] * b[static_cast<std::size_t>(i * kCols + col)];
            }
        }
    }
    return result;
}

template <typename To, typename From, typename Convert>
std::vector<To> converted(const std::vector<From>& values, Convert convert) {
    std::vector<To> result;
    for (const From& value : values) result.push_back(convert(value));
    return result;
}

template <typename Element, typename Sum, typename Convert>
CheckResult mma_form(MmaForm form, int k, Convert convert) {
    const std::vector<int> a = random_integers(static_cast<std::size_t>(kRows * k), 1);
    const std::vector<int> b = random_integers(static_cast<std::size_t>(k * kCols), 2);
    const std::vector<int> c = random_integers(kRows * kCols, 3);
    const Stream stream;
    const DeviceArray<Element> device_a(converted<Element>(a, convert));
    const DeviceArray<Element> device_b(converted<Element>(b, convert));
    const DeviceArray<Sum> device_c(converted<Sum>(c, [](int value) { return static_cast<Sum>(value); }));
    if (multiply_tile(form, device_a.get(), device_b.get(), device_c.get(), stream) != cudaSuccess)
        return failed("launch");
    const std::vector<int> sums =
        converted<int>(device_c.values(), [](Sum value) { return static_cast<int>(value); });
    return equal(sums, plain_product(a, b, c, k));
}

CheckResult mma_f16() {
    return mma_form<std::uint16_t, float>(MmaForm::kF16, 16, [](int value) {
        return __half_as_ushort(__float2half_rn(static_cast<float>(value)));
    });
}
CheckResult mma_bf16() {
    return mma_form<std::uint16_t, float>(MmaForm::kBf16, 16, [](int value) {
        return __bfloat16_as_ushort(__float2bfloat16_rn(static_cast<float>(value)));
    });
}
std::int8_t as_int8(int value) {
    return static_cast<std::int8_t>(value);
}
CheckResult mma_s8_k16() {
    return mma_form<std::int8_t, int>(MmaForm::kS8K16, 16, as_int8);
}
CheckResult mma_s8_k32() {
    return mma_form<std::int8_t, int>(MmaForm::kS8K32, 32, as_int8);
}

CheckResult ldmatrix(bool transposed) {
    std::vector<std::uint16_t> rows(32 * 8);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint16_t>(i * 7 + 3);
    const Stream stream;
    const DeviceArray<std::uint16_t> device_rows(rows);
    const DeviceArray<std::uint32_t> registers(128);
    load_matrices(transposed, device_rows.get(), registers.get(), stream);
    std::vector<std::uint32_t> expected(128);
    for (std::size_t lane = 0; lane < 32; ++lane) {
        for (std::size_t m = 0; m < 4; ++m) {
            const auto element = [&](std::size_t row, std::size_t col) -> std::uint32_t {
                return transposed ? rows[(8 * m + col) * 8 + row] : rows[(8 * m + row) * 8 + col];
            };
            expected[lane * 4 + m] = element(lane / 4, lane % 4 * 2) | element(lane / 4, lane % 4 * 2 + 1)
                                                                           << 16;
        }
    }
    return equal(registers.values(), expected);
}

std::uint32_t expected_of(int which, unsigned lane) {
    const auto value = [](unsigned source) { return source * 3 + 1; };
    switch (which) {
        case kShfl:
            return value(lane / 16 * 16 + 5);
        case kUp:
            return value(lane % 8 < 3 ? lane : lane - 3);
        case kDown:
            return value(lane + 2 < 32 ? lane + 2 : lane);
        case kXor:
            return value(lane ^ 9U);
        case kBallot:
            return 0x49249249U;
        case kAllOf:
            return 0;
        case kAnyOf:
            return 1;
        default:
            return value(lane ^ 15U);
    }
}

CheckResult warp_exchange() {
    const Stream stream;
    const DeviceArray<std::uint32_t> results(kNumWarpResults * 32);
    warp_functions(results.get(), stream);
    std::vector<std::uint32_t> expected;
    for (int which = 0; which < kNumWarpResults; ++which) {
        for (unsigned lane = 0; lane < 32; ++lane) expected.push_back(expected_of(which, lane));
    }
    return equal(results.values(), expected);
}

CheckResult barriers() {
    const Stream stream;
    const DeviceArray<int> results(std::vector<int>{0, 0, 0});
    barrier_functions(results.get(), stream);
    return equal(results.values(), {48, 0, 1});
}

CheckResult atomic_functions() {
    const Stream stream;
    const DeviceArray<unsigned> results(std::vector<unsigned>{0, 0, 1000, 0, 0, 0, 0});
    const DeviceArray<float> sum(std::vector<float>{1.0F});
    atomics(results.get(), sum.get(), stream);
    if (sum.values()[0] != 49.0F) return failed("float sum " + std::to_string(sum.values()[0]));
    return equal(results.values(), {96, 95, 0, 0xFFFFFFFFU, 7, 9, 6});
}

CheckResult integers() {
    const Stream stream;
    const DeviceArray<unsigned> results(kNumIntegerResults);
    integer_functions(results.get(), stream);
    // dp4a: 127 * -128 + -128 * 3 + 2 * -2 + -1 * 1 + 10, and unsigned 127 * 128 + 128 * 3 + 2 * 254 + 255 *
    // 1 + 10
    return equal(results.values(), {0x07030501U, 0xFFFF0000U, static_cast<unsigned>(-16635), 17413U, 9U, 15U,
                                    17U, 0x80000001U, 3U, 2U, 0x7FFFFFFFU, 0x18U});
}

CheckResult halves() {
    const Stream stream;
    const DeviceArray<float> results(kNumHalfResults);
    half_functions(2.5F, results.get(), stream);
    const std::vector<float> actual = results.values();
    const std::vector<float> expected{8.75F, std::exp(2.5F), 1.0F / std::sqrt(2.5F), 0.4F, 2.0F};
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (std::abs(actual[i] - expected[i]) > expected[i] / 256.0F)
            return failed("result " + std::to_string(i));
    }
    return passed();
}

CheckResult partial_copy(int count) {
    std::vector<std::uint8_t> x(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<std::uint8_t>(i + 1);
    const Stream stream;
    const DeviceArray<std::uint8_t> device_x(x);
    const DeviceArray<std::uint8_t> y(32);
    partial_async_copy(device_x.get(), count, y.get(), stream);
    x.resize(32);
    return equal(y.values(), x);
}

CheckResult constant_table() {
    const Stream stream;
    const int first[4] = {1, 2, 3, 4};
    const DeviceArray<int> y(4);
    set_table(first, stream);
    read_table(y.get(), 4, stream);
    return equal(y.values(), {1, 2, 3, 4});
}

}  // namespace

std::vector<Check> instruction_checks() {
    return {{"instruction/mma f16", mma_f16},
            {"instruction/mma bf16", mma_bf16},
            {"instruction/mma s8 k16", mma_s8_k16},
            {"instruction/mma s8 k32", mma_s8_k32},
            {"instruction/ldmatrix", [] { return ldmatrix(false); }},
            {"instruction/ldmatrix transposed", [] { return ldmatrix(true); }},
            {"instruction/warp exchange", warp_exchange},
            {"instruction/block barriers with a value", barriers},
            {"instruction/atomics", atomic_functions},
            {"instruction/integers", integers},
            {"instruction/halves", halves},
            {"instruction/asynchronous copy of 1 byte", [] { return partial_copy(1); }},
            {"instruction/asynchronous copy of 19 bytes", [] { return partial_copy(19); }},
            {"instruction/asynchronous copy of 32 bytes", [] { return partial_copy(32); }},
            {"instruction/constant memory", constant_table}};
}

}  // namespace selftest
