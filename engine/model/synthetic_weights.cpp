#include "engine/model/synthetic_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/model/parallel_rows.h"
#include "engine/model/weight_conversion.h"
#include "kernels/half.h"
#include "kernels/host_memory.h"

namespace glmchat {
namespace {

using kernels::ElementType;
using kernels::LinearWeight;

struct Shape {
    std::string_view name;
    std::int32_t num_layers;
    std::int32_t hidden_size;
    std::int32_t ffn_hidden_size;
    std::int32_t num_attention_heads;
    std::int32_t multi_query_group_num;
    std::int32_t kv_channels;
    std::int32_t padded_vocab_size;
    std::int32_t seq_length;
};

constexpr Shape kShapes[] = {
    {"chatglm2-6b", 28, 4096, 13696, 32, 2, 128, 65024, 32768},
    {"chatglm2-tiny", 2, 128, 192, 8, 2, 16, 512, 2048},
};

/// splitmix64: any counter gives a well-mixed number, so threads need no common state.
std::uint64_t random_bits(std::uint64_t counter) {
    std::uint64_t z = (counter + 1) * 0x9E3779B97F4A7C15ULL;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
}

/// Fills memory with (random & keep) | set, 8 bytes at a time, on all processors.
void fill_random(std::byte* data, std::size_t size_bytes, std::uint64_t seed, std::uint64_t keep,
                 std::uint64_t set) {
    constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
    const std::size_t num_pieces = (size_bytes + kPieceBytes - 1) / kPieceBytes;
    parallel_rows(static_cast<std::int64_t>(num_pieces), [&](std::int64_t first, std::int64_t last) {
        const std::size_t end = std::min(static_cast<std::size_t>(last) * kPieceBytes, size_bytes);
        for (std::size_t at = static_cast<std::size_t>(first) * kPieceBytes; at < end; at += 8) {
            const std::uint64_t bits = (random_bits((seed << 40) + at) & keep) | set;
            std::memcpy(data + at, &bits, std::min<std::size_t>(8, end - at));
        }
    });
}

ElementType element_type(WeightRole role, Precision precision) {
    if (precision == Precision::kFloat32) return ElementType::kFloat32;
    if (role == WeightRole::kLayerLinear && precision == Precision::kInt8) return ElementType::kInt8;
    if (role == WeightRole::kLayerLinear && precision == Precision::kInt4) return ElementType::kInt4;
    return ElementType::kFloat16;
}

/// Bit patterns that make every element ±[m, 2m) with m the power of two at or below magnitude / sqrt(2).
struct BitPattern {
    std::uint64_t keep;  ///< sign and mantissa stay random
    std::uint64_t set;   ///< exponent
};

BitPattern float_pattern(ElementType type, float magnitude) {
    const float power_of_two = std::exp2(std::floor(std::log2(magnitude) - 0.5F));
    if (type == ElementType::kFloat32) {
        return {0x807FFFFF807FFFFFULL, std::bit_cast<std::uint32_t>(power_of_two) * 0x0000000100000001ULL};
    }
    return {0x83FF83FF83FF83FFULL, kernels::float_to_half(power_of_two) * 0x0001000100010001ULL};
}

LinearWeight constant_vector(std::int64_t count, float value) {
    const kernels::Buffer data = kernels::allocate_host(static_cast<std::size_t>(count) * sizeof(float));
    std::fill_n(data.as_float(), count, value);
    LinearWeight vector;
    vector.data = data.data();
    vector.out_features = count;
    vector.in_features = 1;
    vector.owner = data.share();
    return vector;
}

LinearWeight random_plain(ElementType type, const WeightSlot& slot, float magnitude, std::uint64_t seed) {
    LinearWeight weight;
    weight.type = type;
    weight.out_features = slot.rows;
    weight.in_features = slot.cols;
    const std::size_t size_bytes = weight_size_bytes(weight);
    const kernels::Buffer data = kernels::allocate_host(size_bytes);
    const BitPattern pattern = float_pattern(type, magnitude);
    fill_random(static_cast<std::byte*>(data.data()), size_bytes, seed, pattern.keep, pattern.set);
    weight.data = data.data();
    weight.owner = data.share();
    return weight;
}

LinearWeight random_quantized(ElementType type, const WeightSlot& slot, float magnitude, std::uint64_t seed) {
    LinearWeight weight = quantized_layout(type, slot.rows, slot.cols);
    const std::size_t size_bytes = weight_size_bytes(weight);
    const std::size_t element_bytes = weight.row_bytes() * static_cast<std::size_t>(slot.rows);
    const std::size_t scale_bytes = size_bytes - element_bytes;
    const kernels::Buffer data = kernels::allocate_host(size_bytes);
    // Uniform levels over [-8, 7] (or [-128, 127]) have a standard deviation of 16 (or 256) / sqrt(12).
    const float levels_deviation = (type == ElementType::kInt4 ? 16.0F : 256.0F) / std::sqrt(12.0F);
    std::byte* elements = static_cast<std::byte*>(data.data()) + scale_bytes;
    std::fill_n(static_cast<std::uint16_t*>(data.data()), scale_bytes / 2,
                kernels::float_to_half(magnitude / levels_deviation));
    fill_random(elements, element_bytes, seed, ~0ULL, 0);
    weight.scales = data.data();
    weight.data = elements;
    weight.owner = data.share();
    return weight;
}

}  // namespace

Result<ModelConfig> synthetic_config(std::string_view shape_name) {
    const auto* shape = std::find_if(std::begin(kShapes), std::end(kShapes),
                                     [&](const Shape& known) { return known.name == shape_name; });
    if (shape == std::end(kShapes)) {
        std::string known_names;
        for (const Shape& known : kShapes) known_names += fmt::format(" {}", known.name);
        return failure(
            StatusKind::kInvalidArgument,
            fmt::format("There is no synthetic model \"{}\"; known are:{}.", shape_name, known_names));
    }
    ModelConfig config;
    config.name = shape->name;
    config.num_layers = shape->num_layers;
    config.hidden_size = shape->hidden_size;
    config.ffn_hidden_size = shape->ffn_hidden_size;
    config.num_attention_heads = shape->num_attention_heads;
    config.multi_query_group_num = shape->multi_query_group_num;
    config.kv_channels = shape->kv_channels;
    config.padded_vocab_size = shape->padded_vocab_size;
    config.seq_length = shape->seq_length;
    return config;
}

Result<LinearWeight> SyntheticWeights::host_weight(const WeightSlot& slot) {
    if (slot.role == WeightRole::kVector) {
        return constant_vector(slot.rows, slot.name.ends_with(".bias") ? 0.0F : 1.0F);
    }
    const std::uint64_t seed = ++num_weights_;
    const float magnitude = 1.0F / std::sqrt(static_cast<float>(slot.cols));
    const ElementType type = element_type(slot.role, precision_);
    const bool is_plain = type == ElementType::kFloat32 || type == ElementType::kFloat16;
    return is_plain ? random_plain(type, slot, magnitude, seed)
                    : random_quantized(type, slot, magnitude, seed);
}

}  // namespace glmchat
