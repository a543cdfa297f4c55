#include <algorithm>
#include <cmath>

#include "tests/kernels/cuda/cuda_check_parts.h"
#include "tests/kernels/cuda/device_data.h"

#include "kernels/reference/dequantize.h"
#include "kernels/reference/ops.h"
#include "kernels/rotary.h"

namespace glmchat::test {
namespace {

using kernels::ElementType;
using kernels::LinearWeight;
using kernels::ScaleLayout;
using kernels::cuda::LinearArguments;
using kernels::cuda::LinearOutput;

using LinearOp = cudaError_t (*)(const LinearArguments& arguments, cudaStream_t stream);

struct Shape {
    std::int64_t out_features;
    std::int64_t in_features;
};

/// One product of a batch of rows: the host's side, and what the reference makes of it.
struct Product {
    LinearWeight weight;
    std::int64_t rows = 0;
    std::vector<float> x;
    std::vector<float> bias;
    std::vector<float> y;
    std::vector<double> tolerance;
};

/// sum over k of |x[row][k] * w[n][k]|, plus |bias|: what rounding errors of a sum of products are
/// proportional to.
std::vector<double> absolute_sums(const Product& product) {
    const LinearWeight& weight = product.weight;
    std::vector<double> sums;
    std::vector<float> weight_row(static_cast<std::size_t>(weight.in_features));
    sums.resize(static_cast<std::size_t>(product.rows * weight.out_features));
    for (std::int64_t n = 0; n < weight.out_features; ++n) {
        kernels::reference::dequantize_row(weight, n, weight_row.data());
        for (std::int64_t row = 0; row < product.rows; ++row) {
            double sum =
                product.bias.empty() ? 0.0 : std::abs(double{product.bias[static_cast<std::size_t>(n)]});
            for (std::int64_t k = 0; k < weight.in_features; ++k) {
                sum += std::abs(double{product.x[static_cast<std::size_t>(row * weight.in_features + k)]} *
                                weight_row[static_cast<std::size_t>(k)]);
            }
            sums[static_cast<std::size_t>(row * weight.out_features + n)] = sum;
        }
    }
    return sums;
}

/// A float32 sum in any order is off by at most about 2^-24 * sum |x w| (random signs of the errors); eight
/// times that allows for both sides. linear_mma represents x to 2^-22, and a tensor core may truncate where
/// the CPU rounds: 2^-20 covers all of it and is still 512 times finer than activations in plain half
/// precision would be.
Product make_product(const WeightFormat& format, Shape shape, std::int64_t rows, bool with_bias) {
    RandomData random(static_cast<std::uint32_t>(shape.out_features * 131 + shape.in_features * 7 + rows));
    Product product;
    product.weight = random_weight(format, shape.out_features, shape.in_features, random);
    product.rows = rows;
    product.x = random.normal(rows * shape.in_features);
    product.bias = random.normal(with_bias ? shape.out_features : 0);
    product.y.resize(static_cast<std::size_t>(rows * shape.out_features));
    kernels::reference::linear(host_matrix(product.x, rows, shape.in_features), product.weight,
                               with_bias ? product.bias.data() : nullptr,
                               host_matrix(product.y, rows, shape.out_features));
    product.tolerance = absolute_sums(product);
    for (double& value : product.tolerance) value = value * 0x1p-20 + 1e-30;
    return product;
}

/// Runs the op on exact-size device copies. @param y_count  elements of y
std::vector<float> run(LinearOp op, const Product& product, LinearArguments arguments, std::size_t y_count,
                       const Stream& stream) {
    const DeviceWeight weight(product.weight, stream);
    const DeviceArray<float> x(product.x, stream);
    const DeviceArray<float> bias(product.bias, stream);
    const DeviceArray<float> y(y_count);
    arguments.weight = weight.view();
    arguments.x = x.data();
    arguments.bias = bias.data();
    arguments.y = y.data();
    arguments.rows = static_cast<std::int32_t>(product.rows);
    require(op(arguments, stream));
    return y.download(stream);
}

std::string place(const Product& product) {
    return std::to_string(product.rows) + " rows, weight " + std::to_string(product.weight.out_features) +
           " x " + std::to_string(product.weight.in_features) + ": ";
}

struct CaseTable {
    std::vector<Shape> shapes;
    std::vector<std::int64_t> rows;
};

/// One output, one pair and a bit, shapes with and without 16-byte rows, more than a step of a warp.
const CaseTable kGemvTable = {{{1, 2}, {3, 16}, {5, 34}, {33, 48}, {64, 256}, {7, 514}, {9, 1056}},
                              {1, 2, 3, 4, 5}};
/// One feature; below, at, above half a block and a block; one warp's columns, all warps', a stage and a
/// bit, two and a bit.
const CaseTable kMmaTable = {{{1, 128}, {15, 256}, {31, 1152}, {33, 640}, {64, 2176}},
                             {1, 2, 4, 5, 8, 9, 16}};

CheckResult check_stored(LinearOp op, const WeightFormat& format, const CaseTable& table) {
    const Stream stream;
    double largest = 0.0;
    for (const Shape& shape : table.shapes) {
        for (const std::int64_t rows : table.rows) {
            const Product product = make_product(format, shape, rows, rows % 2 == 0);
            const std::string difference = compare(
                run(op, product, {}, product.y.size(), stream), product.y,
                [&](std::size_t i) { return product.tolerance[i]; }, largest);
            if (!difference.empty()) return failed(place(product) + difference);
        }
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

/// y = silu(g) u: errors of g weigh |u| times the sigmoid's slope, at most 1.1, those of u weigh |silu(g)|.
CheckResult check_swiglu(LinearOp op, const WeightFormat& format, const CaseTable& table) {
    const Stream stream;
    double largest = 0.0;
    for (const Shape& half : table.shapes) {
        const Shape shape{2 * half.out_features, half.in_features};
        const auto ffn = static_cast<std::size_t>(half.out_features);
        for (const std::int64_t rows : table.rows) {
            Product product = make_product(format, shape, rows, false);
            std::vector<float> expected(static_cast<std::size_t>(rows) * ffn);
            kernels::reference::swiglu(host_matrix(product.y, rows, shape.out_features),
                                       host_matrix(expected, rows, half.out_features));
            LinearArguments arguments;
            arguments.output = LinearOutput::kSwiglu;
            const auto tolerance = [&](std::size_t i) {
                const std::size_t gate = i / ffn * 2 * ffn + i % ffn;
                const double up = std::abs(double{product.y[gate + ffn]});
                const double silu = std::max(0.3, std::abs(double{product.y[gate]}));
                return 1.1 * product.tolerance[gate] * (up + product.tolerance[gate + ffn]) +
                       product.tolerance[gate + ffn] * silu + 0x1p-20 * std::abs(double{expected[i]});
            };
            const std::string difference =
                compare(run(op, product, arguments, expected.size(), stream), expected, tolerance, largest);
            if (!difference.empty()) return failed(place(product) + difference);
        }
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

/// The fused QKV projection: bias, rotation and the write to the cache, all from one kernel.
std::string check_rotary(LinearOp op, const WeightFormat& format, ElementType kv_type,
                         std::int64_t in_features, const std::vector<SequencePlan>& sequences,
                         double& largest) {
    const Stream stream;
    const kernels::AttentionShape shape = {6, 2, 20};
    constexpr std::int32_t kBlockSize = 7;
    constexpr std::int32_t kLayer = 1;
    RandomData random(5);
    const TestBatch batch(sequences, kBlockSize, random);
    const std::int64_t rows = batch.view().num_tokens();
    kernels::KvCacheView cache = {
        nullptr, kv_type, 2, batch.num_blocks(), kBlockSize, shape.num_kv_heads, shape.head_dim};
    std::vector<std::byte> cache_bytes = random_cache(cache, random);
    const std::vector<float> cos_sin =
        kernels::compute_rotary_table(batch.num_positions(), 10, 10000.0F, 1.0F);
    Product product = make_product(format, {shape.qkv_cols(), in_features}, rows, true);
    const std::vector<float> before_rotation = product.y;

    const DeviceArray<std::byte> device_cache(cache_bytes, stream);
    const DeviceArray<float> device_cos_sin(cos_sin, stream);
    const DeviceBatchArrays device_batch(batch.view(), 1, stream);
    LinearArguments arguments;
    arguments.output = LinearOutput::kRotaryKv;
    arguments.rotary_kv = {
        shape, {device_cos_sin.data(), batch.num_positions(), 10}, device_batch.view(), cache, kLayer};
    arguments.rotary_kv.cache.data = device_cache.data();
    const std::vector<float> actual = run(op, product, arguments, product.y.size(), stream);

    cache.data = cache_bytes.data();
    kernels::reference::rotary_kv_write(host_matrix(product.y, rows, shape.qkv_cols()), shape,
                                        {cos_sin.data(), batch.num_positions(), 10}, batch.view(), cache,
                                        kLayer);
    // A rotation mixes two neighbours: at most the sum of their errors, and two roundings.
    const auto tolerance = [&](std::size_t i) {
        const std::size_t pair = i / 2 * 2;
        return product.tolerance[pair] + product.tolerance[pair + 1] +
               0x1p-22 *
                   (std::abs(double{before_rotation[pair]}) + std::abs(double{before_rotation[pair + 1]}));
    };
    std::string difference = compare(actual, product.y, tolerance, largest);
    if (!difference.empty()) return place(product) + "qkv: " + difference;
    const double worst = *std::max_element(product.tolerance.begin(), product.tolerance.end());
    const std::vector<float> expected_cache = widen_cache(cache_bytes, kv_type);
    const double relative =
        kv_type == ElementType::kFloat16 ? 0x1p-10 : 0x1p-21;  // a unit of the cache's type
    difference = compare(
        widen_cache(device_cache.download(stream), kv_type), expected_cache,
        [&](std::size_t i) { return relative * std::abs(double{expected_cache[i]}) + 2 * worst; }, largest);
    return difference.empty() ? difference : place(product) + "cache: " + difference;
}

CheckResult check_rotary_batches(LinearOp op, const WeightFormat& format, std::int64_t in_features) {
    double largest = 0.0;
    for (const ElementType kv_type : {ElementType::kFloat32, ElementType::kFloat16}) {
        for (const std::vector<SequencePlan>& sequences : std::vector<std::vector<SequencePlan>>{
                 {{0, 1}}, {{13, 1}}, {{6, 2}, {20, 1}}, {{9, 4, 9}, {0, 3}, {6, 1}}}) {
            const std::string difference = check_rotary(op, format, kv_type, in_features, sequences, largest);
            if (!difference.empty()) return failed(difference);
        }
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

/// The split of x into halves holds from 1e-9 to 1.6e7, also beside each other in one row; official layers
/// have such outliers.
CheckResult check_range(const WeightFormat& format) {
    const Stream stream;
    Product product = make_product(format, {32, 256}, 3, false);
    for (std::size_t i = 0; i < product.x.size(); ++i) {
        product.x[i] *= i % 7 == 0 ? 1e6F : i % 3 == 0 ? 1e-5F : 1.0F;
        if (i < 256) product.x[i] = (product.x[i] > 0 ? 1.0F : -1.0F) * 2e-5F;  // a row of small numbers
    }
    kernels::reference::linear(host_matrix(product.x, 3, 256), product.weight, nullptr,
                               host_matrix(product.y, 3, 32));
    const std::vector<double> sums = absolute_sums(product);
    double weight_sum = 0.0;  // the step near zero is 2^-28: half of it times sum |w|
    std::vector<float> row(256);
    for (std::int64_t n = 0; n < 32; ++n) {
        kernels::reference::dequantize_row(product.weight, n, row.data());
        double sum = 0.0;
        for (const float value : row) sum += std::abs(double{value});
        weight_sum = std::max(weight_sum, sum);
    }
    double largest = 0.0;
    const std::string difference = compare(
        run(kernels::cuda::linear_mma, product, {}, product.y.size(), stream), product.y,
        [&](std::size_t i) { return 0x1p-20 * sums[i] + 0x1p-29 * weight_sum; }, largest);
    return difference.empty() ? passed("largest error " + std::to_string(largest) + " of the tolerance")
                              : failed(difference);
}

CheckResult check_refusals() {
    const Stream stream;
    const auto supports = [&](const WeightFormat& format, std::int64_t in_features) {
        RandomData random(1);
        const DeviceWeight weight(random_weight(format, 4, in_features, random), stream);
        return kernels::cuda::linear_mma_supports(weight.view());
    };
    const WeightFormat grouped = {ElementType::kInt4, ScaleLayout::kPerGroup, ElementType::kFloat16, 64};
    if (supports({ElementType::kFloat32}, 128)) return failed("takes FP32");
    if (supports({ElementType::kBFloat16}, 128)) return failed("takes BF16");
    if (supports({ElementType::kFloat16}, 192)) return failed("takes 192 columns");
    if (supports(grouped, 128)) return failed("takes groups of 64");
    return supports({ElementType::kFloat16}, 256) ? passed() : failed("refuses FP16 with 256 columns");
}

/// The formats of linear_mma: groups of one and of several warps' columns.
std::vector<WeightFormat> mma_formats() {
    std::vector<WeightFormat> formats = {
        {ElementType::kFloat16, ScaleLayout::kNone, ElementType::kFloat16, 0}};
    for (const ElementType type : {ElementType::kInt8, ElementType::kInt4}) {
        formats.push_back({type, ScaleLayout::kPerRow, ElementType::kFloat16, 0});
        formats.push_back({type, ScaleLayout::kPerRow, ElementType::kFloat32, 0});
        formats.push_back({type, ScaleLayout::kPerGroup, ElementType::kFloat16, 128});
        formats.push_back({type, ScaleLayout::kPerGroup, ElementType::kFloat32, 256});
    }
    return formats;
}

/// The fused outputs are the same code for every format: float16 scales alone keep the table short.
void add_checks(std::vector<Check>& checks, const std::string& name, LinearOp op, const WeightFormat& format,
                const CaseTable& table, std::int64_t rotary_in_features) {
    const std::string suffix = " " + format_name(format);
    checks.push_back({name + suffix, [=, &table] { return check_stored(op, format, table); }});
    if (format.scale_type != ElementType::kFloat16 || format.group_size == 24) return;
    checks.push_back({name + " swiglu" + suffix, [=, &table] { return check_swiglu(op, format, table); }});
    checks.push_back(
        {name + " rotary" + suffix, [=] { return check_rotary_batches(op, format, rotary_in_features); }});
}

}  // namespace

std::vector<Check> cuda_linear_checks() {
    std::vector<Check> checks = {{"linear/mma refuses", check_refusals}};
    for (const WeightFormat& format : all_weight_formats()) {
        add_checks(checks, "linear/gemv", kernels::cuda::linear_gemv, format, kGemvTable, 64);
    }
    for (const WeightFormat& format : mma_formats()) {
        add_checks(checks, "linear/mma", kernels::cuda::linear_mma, format, kMmaTable, 256);
        checks.push_back(
            {"linear/mma range " + format_name(format), [format] { return check_range(format); }});
    }
    return checks;
}

}  // namespace glmchat::test
