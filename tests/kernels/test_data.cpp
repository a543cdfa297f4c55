#include "tests/kernels/test_data.h"

#include <cmath>
#include <cstring>

#include "kernels/half.h"

namespace glmchat::test {

using kernels::ElementType;
using kernels::LinearWeight;
using kernels::ScaleLayout;

std::vector<float> RandomData::normal(std::int64_t count, float standard_deviation) {
    std::normal_distribution<float> distribution(0.0F, standard_deviation);
    std::vector<float> values(static_cast<std::size_t>(count));
    for (float& value : values) value = distribution(engine_);
    return values;
}

std::int32_t RandomData::integer(std::int32_t first, std::int32_t last) {
    return std::uniform_int_distribution<std::int32_t>(first, last)(engine_);
}

std::string format_name(const WeightFormat& format) {
    static constexpr const char* kTypes[] = {"fp32", "fp16", "bf16", "int8", "int4"};
    std::string name = kTypes[static_cast<std::size_t>(format.type)];
    if (format.layout == ScaleLayout::kNone) return name;
    name += format.layout == ScaleLayout::kPerRow ? " row" : " group" + std::to_string(format.group_size);
    return name + (format.scale_type == ElementType::kFloat16 ? " fp16-scale" : " fp32-scale");
}

std::vector<WeightFormat> all_weight_formats() {
    std::vector<WeightFormat> formats;
    for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16}) {
        formats.push_back({type, ScaleLayout::kNone, ElementType::kFloat16, 0});
    }
    for (const ElementType type : {ElementType::kInt8, ElementType::kInt4}) {
        for (const ElementType scale_type : {ElementType::kFloat16, ElementType::kFloat32}) {
            formats.push_back({type, ScaleLayout::kPerRow, scale_type, 0});
            for (const std::int64_t group_size : {24, 32, 128}) {
                formats.push_back({type, ScaleLayout::kPerGroup, scale_type, group_size});
            }
        }
    }
    return formats;
}

namespace {

void append(std::vector<std::byte>& bytes, const void* value, std::size_t size) {
    const auto* begin = static_cast<const std::byte*>(value);
    bytes.insert(bytes.end(), begin, begin + size);
}

void append_float(std::vector<std::byte>& bytes, ElementType type, float value) {
    const std::uint16_t bits =
        type == ElementType::kFloat16 ? kernels::float_to_half(value) : kernels::float_to_bfloat16(value);
    if (type == ElementType::kFloat32) {
        append(bytes, &value, 4);
    } else {
        append(bytes, &bits, 2);
    }
}

}  // namespace

LinearWeight random_weight(const WeightFormat& format, std::int64_t out_features, std::int64_t in_features,
                           RandomData& random) {
    struct Storage {
        std::vector<std::byte> data = {std::byte{0}};  // one byte ahead: an odd address
        std::vector<std::byte> scales = {std::byte{0}};
    };
    auto storage = std::make_shared<Storage>();
    const std::int64_t count = out_features * in_features;
    const bool quantised = format.layout != ScaleLayout::kNone;
    if (quantised) {
        const std::size_t num_bytes = kernels::element_bytes(format.type, count);
        for (std::size_t i = 0; i < num_bytes; ++i) {
            storage->data.push_back(static_cast<std::byte>(random.integer(0, 255)));
        }
    } else {
        for (const float value : random.normal(count)) append_float(storage->data, format.type, value);
    }
    LinearWeight weight;
    weight.type = format.type;
    weight.data = storage->data.data() + 1;
    weight.out_features = out_features;
    weight.in_features = in_features;
    weight.scale_layout = format.layout;
    weight.scale_type = format.scale_type;
    weight.group_size = format.group_size;
    if (quantised) {
        const std::int64_t per_row = format.layout == ScaleLayout::kPerRow
                                         ? 1
                                         : (in_features + format.group_size - 1) / format.group_size;
        for (const float scale : random.normal(out_features * per_row, 0.05F)) {
            append_float(storage->scales, format.scale_type, scale);
        }
        weight.scales = storage->scales.data() + 1;
    }
    weight.owner = storage;
    return weight;
}

kernels::Buffer upload(kernels::Backend& backend, std::span<const float> values) {
    kernels::Buffer buffer = backend.allocate(values.size_bytes());
    backend.upload(buffer.data(), values.data(), values.size_bytes());
    return buffer;
}

std::vector<float> download(kernels::Backend& backend, const kernels::Buffer& buffer, std::int64_t count) {
    std::vector<float> values(static_cast<std::size_t>(count));
    backend.download(values.data(), buffer.data(), values.size() * sizeof(float));
    return values;
}

kernels::Tensor float_matrix(const kernels::Buffer& buffer, std::int64_t rows, std::int64_t cols) {
    return {buffer.data(), ElementType::kFloat32, rows, cols};
}

std::string compare(std::span<const float> actual, std::span<const float> expected,
                    const std::function<double(std::size_t)>& tolerance, double& largest) {
    if (actual.size() != expected.size()) return "sizes differ";
    double worst = 0.0;
    std::size_t worst_index = 0;
    for (std::size_t i = 0; i < actual.size(); ++i) {
        if (std::memcmp(&actual[i], &expected[i], sizeof(float)) == 0) continue;
        const double share = std::abs(double{actual[i]} - double{expected[i]}) / tolerance(i);
        if (share > worst || std::isnan(share)) {
            worst = share;
            worst_index = i;
        }
        if (std::isnan(worst)) break;
    }
    if (worst <= 1.0) {
        largest = std::max(largest, worst);
        return {};
    }
    return "element " + std::to_string(worst_index) + " is " + std::to_string(actual[worst_index]) +
           ", expected " + std::to_string(expected[worst_index]) + ", off by " + std::to_string(worst) +
           " tolerances";
}

void add_per_isa(std::vector<Check>& checks, const std::string& name,
                 std::function<CheckResult(kernels::IsaLevel)> check) {
    const std::size_t slash = name.find('/');
    for (const auto level :
         {kernels::IsaLevel::kPortable, kernels::IsaLevel::kAvx2, kernels::IsaLevel::kAvx512}) {
        const std::string level_name(kernels::isa_name(level));
        checks.push_back(
            {name.substr(0, slash) + "/" + level_name + name.substr(slash), [level, level_name, check] {
                 if (!kernels::isa_supported(level)) return skipped("no " + level_name + " here");
                 return check(level);
             }});
    }
}

}  // namespace glmchat::test
