#include "engine/model/weight_conversion.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "engine/model/parallel_rows.h"
#include "kernels/half.h"
#include "kernels/host_memory.h"

namespace glmchat {
namespace {

using kernels::ElementType;
using kernels::LinearWeight;
using kernels::ScaleLayout;

template <typename T>
T load(const std::byte* source, std::int64_t index) {
    T value;
    std::memcpy(&value, source + index * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    return value;
}

bool all_finite(const float* values, std::int64_t count) {
    return std::all_of(values, values + count, [](float value) { return std::isfinite(value); });
}

/// Adding 1.5 * 2^23 leaves no bits for a fraction, so the addition itself rounds, half to even. For |value|
/// < 2^22.
float round_half_even(float value) {
    constexpr float kMagic = 12582912.0F;
    return (value + kMagic) - kMagic;
}

/// Quantises the values that share a scale. @return the scale, float16
std::uint16_t quantize_group(const float* values, std::int64_t count, float largest_level,
                             std::int8_t* levels) {
    float largest = 0.0F;
    for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(values[i]));
    const std::uint16_t scale = kernels::float_to_half(largest / largest_level);
    const float rounded_scale = kernels::half_to_float(scale);  // 0 for values that float16 cannot scale
    for (std::int64_t i = 0; i < count; ++i) {
        const float quotient = rounded_scale == 0.0F ? 0.0F : values[i] / rounded_scale;
        levels[i] =
            static_cast<std::int8_t>(std::clamp(round_half_even(quotient), -largest_level, largest_level));
    }
    return scale;
}

/// Byte j holds column 2j in the high nibble and column 2j + 1 in the low one.
void pack_nibbles(const std::int8_t* levels, std::int64_t count, std::byte* packed) {
    for (std::int64_t i = 0; i < count; i += 2) {
        const int high = levels[i] * 16;
        const int low = levels[i + 1] & 15;
        packed[i / 2] = static_cast<std::byte>((high | low) & 255);
    }
}

LinearWeight plain_layout(ElementType type, const LinearWeight& stored) {
    LinearWeight weight;
    weight.type = type;
    weight.out_features = stored.out_features;
    weight.in_features = stored.in_features;
    return weight;
}

/// Calls write_row(row, values [in_features]) for every row of `stored`, widened to float32, on all
/// processors.
template <typename WriteRow>
void for_each_row(const LinearWeight& stored, const WriteRow& write_row) {
    parallel_rows(stored.out_features, [&](std::int64_t first, std::int64_t last) {
        std::vector<float> values(static_cast<std::size_t>(stored.in_features));
        const auto row_bytes = static_cast<std::int64_t>(stored.row_bytes());
        for (std::int64_t row = first; row < last; ++row) {
            widen_to_float(static_cast<const std::byte*>(stored.data) + row * row_bytes, stored.type,
                           stored.in_features, values.data());
            write_row(row, values.data());
        }
    });
}

LinearWeight to_float32(const LinearWeight& stored) {
    LinearWeight weight = plain_layout(ElementType::kFloat32, stored);
    const kernels::Buffer data = kernels::allocate_host(weight_size_bytes(weight));
    const std::size_t row_bytes = weight.row_bytes();
    for_each_row(stored, [&](std::int64_t row, const float* values) {
        std::memcpy(static_cast<std::byte*>(data.data()) + static_cast<std::size_t>(row) * row_bytes, values,
                    row_bytes);
    });
    weight.data = data.data();
    weight.owner = data.share();
    return weight;
}

Result<LinearWeight> to_float16(const LinearWeight& stored, std::string_view what) {
    LinearWeight weight = plain_layout(ElementType::kFloat16, stored);
    const kernels::Buffer data = kernels::allocate_host(weight_size_bytes(weight));
    auto* halves = static_cast<std::uint16_t*>(data.data());
    std::atomic<bool> overflowed = false;
    for_each_row(stored, [&](std::int64_t row, const float* values) {
        for (std::int64_t i = 0; i < stored.in_features; ++i) {
            const std::uint16_t half = kernels::float_to_half(values[i]);
            halves[row * stored.in_features + i] = half;
            if ((half & 0x7FFFU) == 0x7C00U && std::isfinite(values[i])) overflowed = true;
        }
    });
    if (overflowed) {
        return failure(StatusKind::kUnsupported,
                       fmt::format("{} has values too large for fp16; choose precision auto or fp32.", what));
    }
    weight.data = data.data();
    weight.owner = data.share();
    return weight;
}

Result<LinearWeight> to_quantized(const LinearWeight& stored, ElementType type, std::string_view what) {
    const bool packs_nibbles = type == ElementType::kInt4;
    if (packs_nibbles && stored.in_features % 2 != 0) {
        return failure(
            StatusKind::kUnsupported,
            fmt::format("{} has an odd number of columns ({}), which int4 cannot pack; choose int8 or fp16.",
                        what, stored.in_features));
    }
    LinearWeight weight = quantized_layout(type, stored.out_features, stored.in_features);
    const std::int64_t group_size = quantization_group_size(stored.in_features);
    const std::int64_t groups_per_row = stored.in_features / group_size;
    const auto row_bytes = static_cast<std::int64_t>(weight.row_bytes());
    const float largest_level = packs_nibbles ? 7.0F : 127.0F;

    const kernels::Buffer data = kernels::allocate_host(weight_size_bytes(weight));
    auto* scales = static_cast<std::uint16_t*>(data.data());  // in front, where they are aligned
    std::byte* elements = static_cast<std::byte*>(data.data()) + 2 * stored.out_features * groups_per_row;
    std::atomic<bool> found_non_finite = false;
    for_each_row(stored, [&](std::int64_t row, const float* values) {
        if (!all_finite(values, stored.in_features)) {
            found_non_finite = true;
            return;
        }
        std::vector<std::int8_t> levels(static_cast<std::size_t>(stored.in_features));
        for (std::int64_t group = 0; group < groups_per_row; ++group) {
            scales[row * groups_per_row + group] = quantize_group(
                values + group * group_size, group_size, largest_level, levels.data() + group * group_size);
        }
        std::byte* out = elements + row * row_bytes;
        if (packs_nibbles)
            pack_nibbles(levels.data(), stored.in_features, out);
        else
            std::memcpy(out, levels.data(), levels.size());
    });
    if (found_non_finite) {
        return failure(
            StatusKind::kBadFile,
            fmt::format("{} holds NaN or infinity; the file is damaged, download it again.", what));
    }
    weight.data = elements;
    weight.scales = scales;
    weight.owner = data.share();
    return weight;
}

}  // namespace

std::size_t weight_size_bytes(const LinearWeight& weight) {
    std::int64_t num_scales = 0;
    if (weight.scale_layout == ScaleLayout::kPerRow) num_scales = weight.out_features;
    if (weight.scale_layout == ScaleLayout::kPerGroup) {
        num_scales = weight.out_features * ((weight.in_features + weight.group_size - 1) / weight.group_size);
    }
    return weight.row_bytes() * static_cast<std::size_t>(weight.out_features) +
           kernels::element_bytes(weight.scale_type, num_scales);
}

std::int64_t quantization_group_size(std::int64_t in_features) {
    for (const std::int64_t size : {128, 64, 32}) {
        if (in_features % size == 0) return size;
    }
    return in_features;
}

LinearWeight quantized_layout(ElementType type, std::int64_t out_features, std::int64_t in_features) {
    LinearWeight weight;
    weight.type = type;
    weight.out_features = out_features;
    weight.in_features = in_features;
    weight.scale_type = ElementType::kFloat16;
    const std::int64_t group_size = quantization_group_size(in_features);
    const bool grouped = group_size < in_features;
    weight.scale_layout = grouped ? ScaleLayout::kPerGroup : ScaleLayout::kPerRow;
    weight.group_size = grouped ? group_size : 0;
    return weight;
}

Result<LinearWeight> convert_weight(const LinearWeight& stored, ElementType target, std::string_view what) {
    if (stored.type == target) return stored;
    switch (target) {
        case ElementType::kFloat32:
            return to_float32(stored);
        case ElementType::kFloat16:
            return to_float16(stored, what);
        case ElementType::kInt8:
        case ElementType::kInt4:
            return to_quantized(stored, target, what);
        case ElementType::kBFloat16:
            break;
    }
    return failure(StatusKind::kInternal, "Weights are never converted to bfloat16.");
}

void widen_to_float(const void* source, ElementType type, std::int64_t count, float* values) {
    const auto* bytes = static_cast<const std::byte*>(source);
    if (type == ElementType::kFloat32) {
        std::memcpy(values, bytes, static_cast<std::size_t>(count) * sizeof(float));
        return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
        const auto bits = load<std::uint16_t>(bytes, i);
        values[i] =
            type == ElementType::kFloat16 ? kernels::half_to_float(bits) : kernels::bfloat16_to_float(bits);
    }
}

}  // namespace glmchat
