#include <cmath>
#include <string>

#include "tests/kernels/check_parts.h"
#include "tests/kernels/test_data.h"

#include "kernels/cpu/cpu_backend.h"
#include "kernels/reference/dequantize.h"

namespace glmchat::test {
namespace {

using kernels::Backend;
using kernels::IsaLevel;
using kernels::LinearWeight;

struct Shape {
    std::int64_t out_features;
    std::int64_t in_features;
};

std::vector<float> run_linear(Backend& backend, const std::vector<float>& x, std::int64_t rows,
                              const LinearWeight& weight, const std::vector<float>& bias) {
    const LinearWeight prepared = backend.prepare_weight(weight);
    const kernels::Buffer x_buffer = upload(backend, x);
    const kernels::Buffer y_buffer =
        backend.allocate(static_cast<std::size_t>(rows * weight.out_features) * sizeof(float));
    const kernels::Buffer bias_buffer = upload(backend, bias);
    backend.linear(float_matrix(x_buffer, rows, weight.in_features), prepared,
                   bias.empty() ? nullptr : bias_buffer.as_float(),
                   float_matrix(y_buffer, rows, weight.out_features));
    return download(backend, y_buffer, rows * weight.out_features);
}

/// sum over k of |x[row][k] * w[n][k]|: what rounding errors of a sum of products are proportional to.
std::vector<double> absolute_sums(const std::vector<float>& x, std::int64_t rows,
                                  const LinearWeight& weight) {
    std::vector<double> sums(static_cast<std::size_t>(rows * weight.out_features));
    std::vector<float> weight_row(static_cast<std::size_t>(weight.in_features));
    for (std::int64_t n = 0; n < weight.out_features; ++n) {
        kernels::reference::dequantize_row(weight, n, weight_row.data());
        for (std::int64_t row = 0; row < rows; ++row) {
            double sum = 0.0;
            for (std::int64_t k = 0; k < weight.in_features; ++k) {
                sum += std::abs(double{x[static_cast<std::size_t>(row * weight.in_features + k)]} *
                                weight_row[static_cast<std::size_t>(k)]);
            }
            sums[static_cast<std::size_t>(row * weight.out_features + n)] = sum;
        }
    }
    return sums;
}

/// Compares with the reference. A float32 sum of K products in any order is off by about 2^-24 * sqrt(K) * (a
/// typical partial sum), which is at most 2^-24 * sum |x w|; eight times that allows for both sides and for
/// unlucky signs.
std::string compare_with_reference(Backend& backend, const WeightFormat& format, Shape shape,
                                   std::int64_t rows, bool with_bias, double& largest) {
    RandomData random(static_cast<std::uint32_t>(shape.out_features * 131 + shape.in_features * 7 + rows));
    const LinearWeight weight = random_weight(format, shape.out_features, shape.in_features, random);
    const std::vector<float> x = random.normal(rows * shape.in_features);
    const std::vector<float> bias = random.normal(with_bias ? shape.out_features : 0);
    const auto reference = kernels::make_reference_backend();
    const std::vector<float> expected = run_linear(*reference, x, rows, weight, bias);
    const std::vector<float> actual = run_linear(backend, x, rows, weight, bias);
    const std::vector<double> sums = absolute_sums(x, rows, weight);
    const std::string difference = compare(
        actual, expected,
        [&](std::size_t i) { return 8 * 0x1p-24 * (sums[i] + std::abs(double{expected[i]})); }, largest);
    if (difference.empty()) return {};
    return std::to_string(rows) + " rows, weight " + std::to_string(shape.out_features) + " x " +
           std::to_string(shape.in_features) + ": " + difference;
}

CheckResult check_format(IsaLevel level, const WeightFormat& format) {
    const auto backend = kernels::make_cpu_backend(2, level);
    double largest = 0.0;
    // One output, one vector and a bit, several panels, several depth blocks, and no multiple of any vector
    // width.
    for (const Shape shape :
         {Shape{1, 2}, {3, 16}, {5, 34}, {33, 48}, {64, 256}, {67, 514}, {130, 300}, {9, 1056}}) {
        // Streamed (1..16) and in panels; full and broken register tiles.
        for (const std::int64_t rows : {1, 2, 3, 4, 5, 16, 17, 24, 31}) {
            const bool with_bias = rows % 2 == 0;
            const std::string difference =
                compare_with_reference(*backend, format, shape, rows, with_bias, largest);
            if (!difference.empty()) return failed(difference);
        }
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

/// More rows than are packed at a time.
CheckResult check_many_rows(IsaLevel level) {
    const auto backend = kernels::make_cpu_backend(2, level);
    double largest = 0.0;
    const WeightFormat format = {};
    const std::string difference = compare_with_reference(*backend, format, {40, 24}, 1543, true, largest);
    return difference.empty() ? passed() : failed(difference);
}

/// Bit for bit the same, whoever computes which part.
CheckResult check_thread_counts(IsaLevel level) {
    const auto backend = kernels::make_cpu_backend(1, level);
    RandomData random(5);
    const WeightFormat format = {kernels::ElementType::kInt4, kernels::ScaleLayout::kPerGroup,
                                 kernels::ElementType::kFloat16, 32};
    const LinearWeight weight = random_weight(format, 1031, 640, random);
    for (const std::int64_t rows : {1, 3, 7, 40}) {
        const std::vector<float> x = random.normal(rows * weight.in_features);
        backend->set_num_threads(1);
        const std::vector<float> expected = run_linear(*backend, x, rows, weight, {});
        for (const int num_threads : {2, 3, 5}) {
            backend->set_num_threads(num_threads);
            if (run_linear(*backend, x, rows, weight, {}) != expected) {
                return failed(std::to_string(rows) + " rows differ with " + std::to_string(num_threads) +
                              " threads");
            }
        }
    }
    return passed();
}

}  // namespace

std::vector<Check> linear_checks() {
    std::vector<Check> checks;
    for (const WeightFormat& format : all_weight_formats()) {
        add_per_isa(checks, "linear/" + format_name(format),
                    [format](IsaLevel level) { return check_format(level, format); });
    }
    add_per_isa(checks, "linear/many rows", check_many_rows);
    add_per_isa(checks, "linear/same result for any number of threads", check_thread_counts);
    return checks;
}

}  // namespace glmchat::test
