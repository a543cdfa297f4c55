#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>

#include "tests/engine/model/expectations.h"
#include "tests/engine/model/model_checks.h"
#include "tests/engine/model/model_runner.h"
#include "tests/engine/model/quantized_element.h"
#include <fmt/format.h>

#include "engine/model/weight_conversion.h"
#include "kernels/half.h"

namespace glmchat::test {
namespace {

using kernels::ElementType;
using kernels::LinearWeight;
using kernels::ScaleLayout;

LinearWeight view_of(const std::vector<float>& values, std::int64_t cols) {
    LinearWeight weight;
    weight.data = values.data();
    weight.out_features = static_cast<std::int64_t>(values.size()) / cols;
    weight.in_features = cols;
    return weight;
}

LinearWeight view_of(const std::vector<std::uint16_t>& bits, ElementType type, std::int64_t cols) {
    LinearWeight weight;
    weight.type = type;
    weight.data = bits.data();
    weight.out_features = static_cast<std::int64_t>(bits.size()) / cols;
    weight.in_features = cols;
    return weight;
}

std::vector<float> random_values(std::int64_t count) {
    std::mt19937 engine(5);
    std::normal_distribution<float> distribution(0.0F, 0.05F);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = distribution(engine);
    return values;
}

CheckResult check_quantized(ElementType type, std::int64_t rows, std::int64_t cols, std::int64_t group_size) {
    std::vector<float> values = random_values(rows * cols);
    for (std::int64_t col = 0; col < group_size; ++col)
        values[static_cast<std::size_t>(col)] = 0.0F;  // a zero group
    const LinearWeight weight = value_or_throw(convert_weight(view_of(values, cols), type, "test"));
    const bool grouped = group_size < cols;
    if (weight.scale_layout != (grouped ? ScaleLayout::kPerGroup : ScaleLayout::kPerRow))
        return failed("layout");
    if (weight.group_size != (grouped ? group_size : 0)) return failed("group size");
    const int largest_level = type == ElementType::kInt4 ? 7 : 127;
    double worst = 0;
    for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t col = 0; col < cols; ++col) {
            const float value = values[static_cast<std::size_t>(row * cols + col)];
            const int level = level_of(weight, row, col);
            const float scale = scale_of(weight, row, col);
            if (std::abs(level) > largest_level) return failed(fmt::format("level {}", level));
            if (scale == 0.0F) {
                if (value != 0.0F || level != 0) return failed("a zero group has other levels");
                continue;
            }
            worst = std::max(worst, std::fabs(double{value} - level * double{scale}) / scale);
        }
    }
    // Half a step by rounding; a scale that float16 rounded down moves the largest value by 2^-11 of 127
    // steps.
    const double bound = 0.5 + largest_level * 0x1p-11;
    return worst <= bound ? passed(fmt::format("worst error {:.3f} steps", worst))
                          : failed(fmt::format("error of {} steps", worst));
}

CheckResult check_group_sizes() {
    constexpr std::pair<std::int64_t, std::int64_t> kTable[] = {
        {4096, 128}, {13696, 128}, {192, 64}, {96, 32}, {48, 48}, {32, 32}, {1, 1}};
    for (const auto& [cols, group_size] : kTable) {
        if (quantization_group_size(cols) != group_size) return failed(fmt::format("{} columns", cols));
    }
    return passed();
}

CheckResult check_widening() {
    std::vector<std::uint16_t> halves(1 << 16);
    for (std::size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<std::uint16_t>(i);
    for (const ElementType type : {ElementType::kFloat16, ElementType::kBFloat16}) {
        const LinearWeight wide =
            value_or_throw(convert_weight(view_of(halves, type, 256), ElementType::kFloat32, "test"));
        const auto* values = static_cast<const float*>(wide.data);
        for (std::size_t i = 0; i < halves.size(); ++i) {
            const float expected = type == ElementType::kFloat16 ? kernels::half_to_float(halves[i])
                                                                 : kernels::bfloat16_to_float(halves[i]);
            if (std::memcmp(&values[i], &expected, sizeof(float)) != 0)
                return failed(fmt::format("bits {:x}", i));
        }
    }
    return passed("all 65536 patterns of float16 and bfloat16");
}

CheckResult check_narrowing() {
    const std::vector<float> values = random_values(640);
    const LinearWeight narrow =
        value_or_throw(convert_weight(view_of(values, 64), ElementType::kFloat16, "test"));
    const auto* halves = static_cast<const std::uint16_t*>(narrow.data);
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (halves[i] != kernels::float_to_half(values[i])) return failed(fmt::format("element {}", i));
    }
    return passed();
}

CheckResult check_refusal(float bad_value, ElementType target, StatusKind kind) {
    std::vector<float> values = random_values(64);
    values[17] = bad_value;
    return expect_failure(convert_weight(view_of(values, 32), target, "Tensor w in f.bin"), kind,
                          {"Tensor w in f.bin"});
}

}  // namespace

std::vector<Check> conversion_checks() {
    constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    std::vector<Check> checks = {
        {"conversion/group-sizes", check_group_sizes},
        {"conversion/to-fp32", check_widening},
        {"conversion/to-fp16", check_narrowing},
        {"conversion/too-large-for-fp16",
         [] { return check_refusal(1e6F, ElementType::kFloat16, StatusKind::kUnsupported); }},
        {"conversion/nan-to-int8",
         [] { return check_refusal(kNaN, ElementType::kInt8, StatusKind::kBadFile); }},
        {"conversion/infinity-to-int4",
         [] { return check_refusal(kInfinity, ElementType::kInt4, StatusKind::kBadFile); }},
        {"conversion/odd-columns-to-int4",
         [] {
             const std::vector<float> values = random_values(3 * 33);
             return expect_failure(convert_weight(view_of(values, 33), ElementType::kInt4, "Tensor w"),
                                   StatusKind::kUnsupported, {"Tensor w", "33"});
         }},
    };
    struct Row {
        std::int64_t rows, cols, group_size;
    };
    for (const Row row :
         {Row{70, 256, 128}, Row{3, 192, 64}, Row{33, 96, 32}, Row{5, 50, 50}, Row{1, 2, 2}}) {
        for (const ElementType type : {ElementType::kInt8, ElementType::kInt4}) {
            checks.push_back(
                {fmt::format("conversion/to-int{}/{}x{}", kernels::element_bits(type), row.rows, row.cols),
                 [=] { return check_quantized(type, row.rows, row.cols, row.group_size); }});
        }
    }
    return checks;
}

}  // namespace glmchat::test
