#include <cmath>

#include "tests/kernels/check_parts.h"
#include "tests/kernels/test_batch.h"

#include "kernels/cpu/cpu_backend.h"

namespace glmchat::test {
namespace {

using kernels::Backend;
using kernels::IsaLevel;

struct Shape {
    std::int64_t rows;
    std::int64_t cols;
};
// One element, odd sizes around the vector widths, a size of real models, and enough rows for several
// threads.
constexpr Shape kShapes[] = {{1, 1}, {1, 7}, {3, 16}, {2, 33}, {5, 100}, {1, 4096}, {300, 130}};

std::size_t bytes_of(Shape shape) {
    return static_cast<std::size_t>(shape.rows * shape.cols) * sizeof(float);
}

/// Runs `op` on both backends for every shape. op(backend, shape, random) returns what it computed.
/// tolerance: relative to the expected number, plus a thousandth of that for numbers near zero.
template <typename Op>
CheckResult check_op(IsaLevel level, double relative, const Op& op) {
    const auto backend = kernels::make_cpu_backend(2, level);
    const auto reference = kernels::make_reference_backend();
    double largest = 0.0;
    for (const Shape shape : kShapes) {
        RandomData random(static_cast<std::uint32_t>(shape.cols));
        RandomData same_random(static_cast<std::uint32_t>(shape.cols));
        const std::vector<float> actual = op(*backend, shape, random);
        const std::vector<float> expected = op(*reference, shape, same_random);
        const std::string difference = compare(
            actual, expected,
            [&](std::size_t i) { return relative * (std::abs(double{expected[i]}) + 1e-3); }, largest);
        if (!difference.empty()) {
            return failed(std::to_string(shape.rows) + " x " + std::to_string(shape.cols) + ": " +
                          difference);
        }
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

std::vector<float> rms_norm(Backend& backend, Shape shape, RandomData& random) {
    const kernels::Buffer x = upload(backend, random.normal(shape.rows * shape.cols));
    const kernels::Buffer weight = upload(backend, random.normal(shape.cols));
    backend.rms_norm(float_matrix(x, shape.rows, shape.cols), weight.as_float(), 1e-5F,
                     float_matrix(x, shape.rows, shape.cols));  // in place
    return download(backend, x, shape.rows * shape.cols);
}

/// The residual, then the norm, which replaces delta.
std::vector<float> add_rms_norm(Backend& backend, Shape shape, RandomData& random) {
    const std::int64_t count = shape.rows * shape.cols;
    const kernels::Buffer residual = upload(backend, random.normal(count));
    const kernels::Buffer delta = upload(backend, random.normal(count));
    const kernels::Buffer weight = upload(backend, random.normal(shape.cols));
    backend.add_rms_norm(float_matrix(residual, shape.rows, shape.cols),
                         float_matrix(delta, shape.rows, shape.cols), weight.as_float(), 1e-5F,
                         float_matrix(delta, shape.rows, shape.cols));
    std::vector<float> both = download(backend, residual, count);
    const std::vector<float> normed = download(backend, delta, count);
    both.insert(both.end(), normed.begin(), normed.end());
    return both;
}

std::vector<float> add(Backend& backend, Shape shape, RandomData& random) {
    const kernels::Buffer residual = upload(backend, random.normal(shape.rows * shape.cols));
    const kernels::Buffer delta = upload(backend, random.normal(shape.rows * shape.cols));
    backend.add(float_matrix(residual, shape.rows, shape.cols), float_matrix(delta, shape.rows, shape.cols));
    return download(backend, residual, shape.rows * shape.cols);
}

std::vector<float> swiglu(Backend& backend, Shape shape, RandomData& random) {
    // Gates up to about 80: past both ends of where exp leaves the range of float32 in naive code.
    const kernels::Buffer gate_up = upload(backend, random.normal(2 * shape.rows * shape.cols, 20.0F));
    const kernels::Buffer y = backend.allocate(bytes_of(shape));
    backend.swiglu(float_matrix(gate_up, shape.rows, 2 * shape.cols),
                   float_matrix(y, shape.rows, shape.cols));
    return download(backend, y, shape.rows * shape.cols);
}

std::vector<float> gather_rows(Backend& backend, Shape shape, RandomData& random) {
    const kernels::Buffer x = upload(backend, random.normal(shape.rows * shape.cols));
    std::vector<std::int32_t> rows;
    for (std::int64_t i = 0; i < 2 * shape.rows; ++i) {
        rows.push_back(random.integer(0, static_cast<std::int32_t>(shape.rows - 1)));
    }
    const Shape gathered = {2 * shape.rows, shape.cols};
    const kernels::Buffer y = backend.allocate(bytes_of(gathered));
    backend.gather_rows(float_matrix(x, shape.rows, shape.cols), rows,
                        float_matrix(y, gathered.rows, gathered.cols));
    return download(backend, y, gathered.rows * gathered.cols);
}

/// The embedding is the dequantised row: exactly float(q) * float(scale), on every level.
CheckResult check_embedding(IsaLevel level, const WeightFormat& format) {
    const auto backend = kernels::make_cpu_backend(2, level);
    const auto reference = kernels::make_reference_backend();
    for (const std::int64_t hidden_size : {2, 16, 34, 100, 514}) {
        RandomData random(static_cast<std::uint32_t>(hidden_size));
        const kernels::LinearWeight table = random_weight(format, 10, hidden_size, random);
        const TestBatch batch({{0, 25}}, 16, random);
        std::vector<std::vector<float>> results;
        for (Backend* each : {backend.get(), reference.get()}) {
            const kernels::Buffer hidden_states = each->allocate(bytes_of({25, hidden_size}));
            each->embedding(each->prepare_weight(table), batch.view(),
                            float_matrix(hidden_states, 25, hidden_size));
            results.push_back(download(*each, hidden_states, 25 * hidden_size));
        }
        double largest = 0.0;
        const std::string difference = compare(
            results[0], results[1], [](std::size_t) { return 0x1p-149; }, largest);
        if (!difference.empty() || largest > 0.0)
            return failed("hidden size " + std::to_string(hidden_size) + difference);
    }
    return passed();
}

/// A number that is not one must stay visible: the sampler reports it instead of choosing a token.
CheckResult check_nan_stays(IsaLevel level) {
    const auto backend = kernels::make_cpu_backend(1, level);
    const std::vector<float> gate_up(40, std::nanf(""));
    const kernels::Buffer input = upload(*backend, gate_up);
    const kernels::Buffer y = backend->allocate(20 * sizeof(float));
    backend->swiglu(float_matrix(input, 1, 40), float_matrix(y, 1, 20));
    for (const float value : download(*backend, y, 20)) {
        if (!std::isnan(value)) return failed("swiglu made a number of NaN");
    }
    return passed();
}

}  // namespace

std::vector<Check> elementwise_checks() {
    std::vector<Check> checks;
    // Norms: the sum of up to 4096 squares in another order, then three roundings.
    add_per_isa(checks, "elementwise/rms_norm",
                [](IsaLevel level) { return check_op(level, 4e-6, rms_norm); });
    add_per_isa(checks, "elementwise/add_rms_norm",
                [](IsaLevel level) { return check_op(level, 4e-6, add_rms_norm); });
    add_per_isa(checks, "elementwise/add", [](IsaLevel level) { return check_op(level, 1e-12, add); });
    // exp is good to 2e-7 and enters once; division and two products.
    add_per_isa(checks, "elementwise/swiglu", [](IsaLevel level) { return check_op(level, 1e-6, swiglu); });
    add_per_isa(checks, "elementwise/gather_rows",
                [](IsaLevel level) { return check_op(level, 1e-12, gather_rows); });
    add_per_isa(checks, "elementwise/NaN stays NaN", check_nan_stays);
    for (const WeightFormat& format : all_weight_formats()) {
        add_per_isa(checks, "elementwise/embedding " + format_name(format),
                    [format](IsaLevel level) { return check_embedding(level, format); });
    }
    return checks;
}

}  // namespace glmchat::test
