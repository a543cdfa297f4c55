#include "engine/quantize/quantize_checkpoint.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/loader/checkpoint.h"
#include "engine/loader/model_config.h"
#include "engine/quantize/safetensors_writer.h"
#include "kernels/half.h"

namespace glmchat {
namespace fs = std::filesystem;
namespace {

/// The linears the official checkpoints quantise.
constexpr std::array<std::string_view, 4> kQuantizedSuffixes = {
    ".self_attention.query_key_value.weight", ".self_attention.dense.weight", ".mlp.dense_h_to_4h.weight",
    ".mlp.dense_4h_to_h.weight"};
constexpr std::string_view kWeightsName = "model.safetensors";

bool is_quantized_name(std::string_view name) {
    return std::any_of(kQuantizedSuffixes.begin(), kQuantizedSuffixes.end(),
                       [name](std::string_view suffix) { return name.ends_with(suffix); });
}

float round_to_half(float value) {
    return kernels::half_to_float(kernels::float_to_half(value));
}

std::int32_t bits_of(Precision precision) {
    return precision == Precision::kInt4 ? 4 : 8;
}

template <typename Convert>
std::vector<float> widen(const HostTensor& tensor, Convert convert) {
    std::vector<float> values(static_cast<std::size_t>(tensor.info.num_elements()));
    for (std::size_t i = 0; i < values.size(); ++i) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, tensor.bytes.data() + i * sizeof(bits), sizeof(bits));
        values[i] = convert(bits);
    }
    return values;
}

Result<std::vector<float>> to_float(const HostTensor& tensor) {
    switch (tensor.info.type) {
        case DataType::kFloat16:
            return widen(tensor, kernels::half_to_float);
        case DataType::kBFloat16:
            return widen(tensor, kernels::bfloat16_to_float);
        case DataType::kFloat32: {
            std::vector<float> values(static_cast<std::size_t>(tensor.info.num_elements()));
            std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
            return values;
        }
        default:
            return failure(
                StatusKind::kUnsupported,
                fmt::format("{} in {} is {} and cannot be quantised; only floating-point weights can.",
                            tensor.info.name, tensor.info.file_name, data_type_name(tensor.info.type)));
    }
}

std::span<const std::byte> as_bytes(const auto& values) {
    return std::as_bytes(std::span(values));
}

TensorToWrite copied(const Checkpoint& checkpoint, const TensorInfo& info) {
    return {info, [&checkpoint, name = info.name](const auto& write) -> Result<void> {
                auto tensor = checkpoint.tensor(name);
                if (!tensor) return tl::unexpected(tensor.error());
                write(tensor->bytes);
                return {};
            }};
}

/// A quantised weight and its scales, in file order: the weight is quantised when it is written, its scales
/// follow.
void append_quantized(const Checkpoint& checkpoint, const TensorInfo& info, Precision precision,
                      std::vector<TensorToWrite>& tensors) {
    const std::int64_t rows = info.shape[0];
    const std::int64_t cols = info.shape[1];
    const auto scales = std::make_shared<std::vector<std::uint16_t>>();
    TensorInfo weight_info = info;
    weight_info.type = DataType::kInt8;
    weight_info.shape = {rows, precision == Precision::kInt4 ? cols / 2 : cols};
    TensorInfo scale_info = info;
    scale_info.name += "_scale";
    scale_info.type = DataType::kFloat16;
    scale_info.shape = {rows};
    tensors.push_back(
        {weight_info,
         [&checkpoint, name = info.name, rows, cols, precision, scales](const auto& write) -> Result<void> {
             auto tensor = checkpoint.tensor(name);
             if (!tensor) return tl::unexpected(tensor.error());
             auto values = to_float(*tensor);
             if (!values) return tl::unexpected(values.error());
             OfficialQuantizedWeight quantized = quantize_official(*values, rows, cols, precision);
             write(as_bytes(quantized.packed));
             *scales = std::move(quantized.scales);
             return {};
         }});
    tensors.push_back({scale_info, [scales](const auto& write) -> Result<void> {
                           write(as_bytes(*scales));
                           return {};
                       }});
}

Result<void> check_request(const ModelConfig& config, const fs::path& target, Precision precision) {
    if (precision != Precision::kInt4 && precision != Precision::kInt8) {
        return failure(
            StatusKind::kUnsupported,
            fmt::format("A model can be quantised to int8 or int4, not to {}.", precision_name(precision)));
    }
    if (config.quantization_bit != 0) {
        return failure(
            StatusKind::kUnsupported,
            fmt::format("The model is already quantised to {} bits. Quantise the FP16 model instead.",
                        config.quantization_bit));
    }
    std::error_code error;
    if (fs::exists(target, error) && !fs::is_empty(target, error)) {
        return failure(
            StatusKind::kInvalidArgument,
            fmt::format("{} is not empty. Name a new folder, nothing is overwritten.", display_name(target)));
    }
    return {};
}

Result<void> write_config(const fs::path& source, const fs::path& target, std::int32_t bits) {
    auto file = MappedFile::open(source / "config.json");
    if (!file) return tl::unexpected(file.error());
    auto json = nlohmann::ordered_json::parse((*file)->text(), nullptr, /*allow_exceptions=*/false);
    json["quantization_bit"] = bits;  // read_model_config() has accepted this text: it is an object
    std::ofstream out(target / "config.json", std::ios::binary);
    out << json.dump(2) << '\n';
    out.close();
    if (!out)
        return failure(StatusKind::kNotFound,
                       fmt::format("config.json could not be written in {}.", display_name(target)));
    return {};
}

Result<void> copy_tokenizer_files(const fs::path& source, const fs::path& target) {
    for (const char* name : {"tokenizer.model", "tokenizer_config.json"}) {
        std::error_code error;
        if (!fs::exists(source / name, error)) continue;
        if (!fs::copy_file(source / name, target / name, error)) {
            return failure(StatusKind::kNotFound,
                           fmt::format("{} could not be copied: {}.", name, error.message()));
        }
    }
    return {};
}

/// Wraps each tensor's producer so that progress is told after it.
void report_progress(std::vector<TensorToWrite>& tensors, const std::function<void(float)>& on_progress) {
    if (!on_progress) return;
    const auto total = static_cast<float>(tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        tensors[i].produce = [produce = std::move(tensors[i].produce),
                              fraction = static_cast<float>(i + 1) / total, &on_progress](const auto& write) {
            Result<void> produced = produce(write);
            on_progress(fraction);
            return produced;
        };
    }
}

}  // namespace

OfficialQuantizedWeight quantize_official(std::span<const float> rows_by_cols, std::int64_t rows,
                                          std::int64_t cols, Precision precision) {
    const bool is_int4 = precision == Precision::kInt4;
    const float largest = is_int4 ? 7.0F : 127.0F;
    OfficialQuantizedWeight quantized;
    quantized.scales.reserve(static_cast<std::size_t>(rows));
    quantized.packed.reserve(static_cast<std::size_t>(is_int4 ? rows * cols / 2 : rows * cols));
    std::vector<std::int8_t> row_values(static_cast<std::size_t>(cols));
    for (std::int64_t row = 0; row < rows; ++row) {
        const auto weights =
            rows_by_cols.subspan(static_cast<std::size_t>(row * cols), static_cast<std::size_t>(cols));
        float absmax = 0;
        for (const float weight : weights) absmax = std::max(absmax, std::abs(weight));
        const std::uint16_t scale_bits = kernels::float_to_half(absmax / largest);
        const float scale = kernels::half_to_float(scale_bits);
        for (std::size_t col = 0; col < weights.size(); ++col) {
            // An all-zero row has scale 0; its values are 0, not 0/0.
            const float quotient = scale > 0 ? round_to_half(weights[col] / scale) : 0.0F;
            row_values[col] =
                static_cast<std::int8_t>(std::clamp(std::nearbyint(quotient), -largest - 1, largest));
        }
        quantized.scales.push_back(scale_bits);
        if (!is_int4) {
            quantized.packed.insert(quantized.packed.end(), row_values.begin(), row_values.end());
            continue;
        }
        for (std::size_t col = 0; col < row_values.size(); col += 2) {
            const auto high = static_cast<std::uint8_t>(static_cast<std::uint8_t>(row_values[col]) << 4);
            const auto low = static_cast<std::uint8_t>(static_cast<std::uint8_t>(row_values[col + 1]) & 0x0F);
            quantized.packed.push_back(static_cast<std::int8_t>(high | low));
        }
    }
    return quantized;
}

Result<std::size_t> quantize_checkpoint(const fs::path& source, const fs::path& target, Precision precision,
                                        const std::function<void(float)>& on_progress) {
    auto config = read_model_config(source);
    if (!config) return tl::unexpected(config.error());
    if (auto checked = check_request(*config, target, precision); !checked)
        return tl::unexpected(checked.error());
    auto checkpoint = Checkpoint::open_folder(source);
    if (!checkpoint) return tl::unexpected(checkpoint.error());

    std::vector<TensorToWrite> tensors;
    for (const TensorInfo& info : checkpoint->tensors()) {
        const bool is_quantized = is_quantized_name(info.name);
        if (is_quantized && (info.shape.size() != 2 || info.shape[1] % 2 != 0)) {
            return failure(StatusKind::kBadFile,
                           fmt::format("{} in {} is not a matrix with an even number of columns.", info.name,
                                       info.file_name));
        }
        if (is_quantized)
            append_quantized(*checkpoint, info, precision, tensors);
        else
            tensors.push_back(copied(*checkpoint, info));
    }
    report_progress(tensors, on_progress);

    std::error_code error;
    fs::create_directories(target, error);
    if (error) {
        return failure(StatusKind::kNotFound, fmt::format("The folder {} could not be made: {}.",
                                                          display_name(target), error.message()));
    }
    if (auto written = write_safetensors(target / kWeightsName, tensors); !written)
        return tl::unexpected(written.error());
    if (auto copied_files = copy_tokenizer_files(source, target); !copied_files)
        return tl::unexpected(copied_files.error());
    // config.json comes last: a folder with it is complete.
    if (auto written = write_config(source, target, bits_of(precision)); !written)
        return tl::unexpected(written.error());
    return static_cast<std::size_t>(fs::file_size(target / kWeightsName, error));
}

}  // namespace glmchat
