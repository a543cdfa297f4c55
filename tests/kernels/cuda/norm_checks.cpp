#include <cmath>

#include "tests/kernels/cuda/cuda_check_parts.h"
#include "tests/kernels/cuda/device_data.h"

#include "kernels/reference/ops.h"

namespace glmchat::test {
namespace {

constexpr float kEps = 1e-5F;

/// y = x * factor * weight: the factor carries the error of a float32 sum of squares, all of one sign, in
/// another order (at most 2^-24 * (1 + the depth of the reference's sequential sum, which is random and
/// grows like sqrt(cols))), halved by the root; two products and a division add 2^-23.
double norm_tolerance(float expected, std::int64_t cols) {
    return (0x1p-24 * std::sqrt(static_cast<double>(cols)) + 0x1p-21) * std::abs(double{expected}) + 0x1p-40;
}

struct NormShape {
    std::int32_t rows;
    std::int32_t cols;
};

// One element; below, at and above a vector, a warp, the threads of a block, the vectors a block holds in
// registers; columns that are not whole vectors.
constexpr NormShape kShapes[] = {{1, 1},    {3, 3},    {2, 4},    {5, 31},    {1, 32},
                                 {2, 124},  {3, 128},  {1, 132},  {2, 256},   {1, 4096},
                                 {2, 4100}, {1, 4098}, {1, 8192}, {1, 16384}, {1, 16388}};

std::string shape_name(const NormShape& shape) {
    return std::to_string(shape.rows) + " x " + std::to_string(shape.cols);
}

struct NormData {
    std::vector<float> x;
    std::vector<float> delta;
    std::vector<float> weight;
};
NormData norm_data(const NormShape& shape) {
    RandomData random(static_cast<std::uint32_t>(shape.cols));
    const std::int64_t count = std::int64_t{shape.rows} * shape.cols;
    return {random.normal(count, 3.0F), random.normal(count), random.normal(shape.cols)};
}

std::string compare_rows(const std::vector<float>& actual, const std::vector<float>& expected,
                         const NormShape& shape, double& largest) {
    const std::string difference = compare(
        actual, expected, [&](std::size_t i) { return norm_tolerance(expected[i], shape.cols); }, largest);
    return difference.empty() ? difference : shape_name(shape) + ": " + difference;
}

CheckResult for_all_shapes(const std::function<std::string(const NormShape&, double&)>& check) {
    double largest = 0.0;
    for (const NormShape& shape : kShapes) {
        const std::string difference = check(shape, largest);
        if (!difference.empty()) return failed(difference);
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

std::string check_rms_norm(const NormShape& shape, bool in_place, double& largest) {
    const Stream stream;
    NormData data = norm_data(shape);
    std::vector<float> expected(data.x.size());
    kernels::reference::rms_norm(host_matrix(data.x, shape.rows, shape.cols), data.weight.data(), kEps,
                                 host_matrix(expected, shape.rows, shape.cols));
    const DeviceArray<float> x(data.x, stream);
    const DeviceArray<float> weight(data.weight, stream);
    const DeviceArray<float> other(data.x.size());
    const DeviceArray<float>& y = in_place ? x : other;
    require(kernels::cuda::rms_norm(x.data(), nullptr, weight.data(), kEps, y.data(), shape.rows, shape.cols,
                                    stream));
    return compare_rows(y.download(stream), expected, shape, largest);
}

std::string check_add_rms_norm(const NormShape& shape, bool in_place, double& largest) {
    const Stream stream;
    NormData data = norm_data(shape);
    const DeviceArray<float> residual(data.x, stream);
    const DeviceArray<float> delta(data.delta, stream);
    const DeviceArray<float> weight(data.weight, stream);
    const DeviceArray<float> other(data.x.size());
    const DeviceArray<float>& y = in_place ? delta : other;
    require(kernels::cuda::add_rms_norm(residual.data(), delta.data(), weight.data(), kEps, y.data(),
                                        shape.rows, shape.cols, stream));
    std::vector<float> expected(data.x.size());
    kernels::reference::add_rms_norm(host_matrix(data.x, shape.rows, shape.cols),
                                     host_matrix(data.delta, shape.rows, shape.cols), data.weight.data(),
                                     kEps, host_matrix(expected, shape.rows, shape.cols));
    if (residual.download(stream) != data.x)
        return shape_name(shape) + ": the residual is not exactly the sum";
    return compare_rows(y.download(stream), expected, shape, largest);
}

/// The final norm: rows picked from a batch, in any order, some twice.
std::string check_gathered(const NormShape& shape, double& largest) {
    const Stream stream;
    NormData data = norm_data(shape);
    const std::vector<std::int32_t> row_ids = {shape.rows - 1, 0, shape.rows - 1, shape.rows / 2};
    const auto num_picked = static_cast<std::int32_t>(row_ids.size());
    std::vector<float> picked(row_ids.size() * static_cast<std::size_t>(shape.cols));
    std::vector<float> expected(picked.size());
    kernels::reference::gather_rows(host_matrix(data.x, shape.rows, shape.cols), row_ids,
                                    host_matrix(picked, num_picked, shape.cols));
    kernels::reference::rms_norm(host_matrix(picked, num_picked, shape.cols), data.weight.data(), kEps,
                                 host_matrix(expected, num_picked, shape.cols));
    const DeviceArray<float> x(data.x, stream);
    const DeviceArray<float> weight(data.weight, stream);
    const DeviceArray<std::int32_t> ids(row_ids, stream);
    const DeviceArray<float> y(expected.size());
    require(kernels::cuda::rms_norm(x.data(), ids.data(), weight.data(), kEps, y.data(), num_picked,
                                    shape.cols, stream));
    return compare_rows(y.download(stream), expected, shape, largest);
}

/// eps is what keeps a row of zeros finite.
CheckResult check_zero_row() {
    const Stream stream;
    const std::vector<float> ones(64, 1.0F);
    const DeviceArray<float> x(std::vector<float>(64), stream);
    const DeviceArray<float> weight(ones, stream);
    require(kernels::cuda::rms_norm(x.data(), nullptr, weight.data(), 1.5625e-07F, x.data(), 1, 64, stream));
    return x.download(stream) == std::vector<float>(64) ? passed() : failed("not zero");
}

}  // namespace

std::vector<Check> cuda_norm_checks() {
    using namespace std::placeholders;
    return {
        {"norm/rms_norm", [] { return for_all_shapes(std::bind(check_rms_norm, _1, false, _2)); }},
        {"norm/rms_norm in place", [] { return for_all_shapes(std::bind(check_rms_norm, _1, true, _2)); }},
        {"norm/add_rms_norm", [] { return for_all_shapes(std::bind(check_add_rms_norm, _1, false, _2)); }},
        {"norm/add_rms_norm in place",
         [] { return for_all_shapes(std::bind(check_add_rms_norm, _1, true, _2)); }},
        {"norm/of gathered rows", [] { return for_all_shapes(check_gathered); }},
        {"norm/row of zeros", check_zero_row},
    };
}

}  // namespace glmchat::test
