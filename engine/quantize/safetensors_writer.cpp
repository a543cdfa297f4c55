#include "engine/quantize/safetensors_writer.h"

#include <bit>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace glmchat {
namespace fs = std::filesystem;
namespace {

static_assert(std::endian::native == std::endian::little,
              "safetensors is little-endian and is written as memory");

/// The format's own names of the element types.
std::string_view safetensors_type(DataType type) {
    switch (type) {
        case DataType::kFloat64:
            return "F64";
        case DataType::kFloat32:
            return "F32";
        case DataType::kFloat16:
            return "F16";
        case DataType::kBFloat16:
            return "BF16";
        case DataType::kInt64:
            return "I64";
        case DataType::kInt32:
            return "I32";
        case DataType::kInt16:
            return "I16";
        case DataType::kInt8:
            return "I8";
        case DataType::kUInt8:
            return "U8";
        case DataType::kBool:
            return "BOOL";
    }
    return "";
}

std::size_t tensor_bytes(const TensorInfo& info) {
    return static_cast<std::size_t>(info.num_elements()) * data_type_bytes(info.type);
}

std::string make_header(const std::vector<TensorToWrite>& tensors) {
    nlohmann::json header = {{"__metadata__", {{"format", "pt"}}}};
    std::size_t offset = 0;
    for (const TensorToWrite& tensor : tensors) {
        const std::size_t end = offset + tensor_bytes(tensor.info);
        header[tensor.info.name] = {{"dtype", safetensors_type(tensor.info.type)},
                                    {"shape", tensor.info.shape},
                                    {"data_offsets", {offset, end}}};
        offset = end;
    }
    std::string text = header.dump();
    constexpr std::size_t kAlignment = 64;  // of the data behind the 8-byte length and the header
    text.append((kAlignment - (sizeof(std::uint64_t) + text.size()) % kAlignment) % kAlignment, ' ');
    return text;
}

Result<void> write_all(std::ofstream& file, const std::vector<TensorToWrite>& tensors) {
    const std::string header = make_header(tensors);
    const std::uint64_t header_size = header.size();
    file.write(reinterpret_cast<const char*>(&header_size), sizeof(header_size));
    file << header;
    for (const TensorToWrite& tensor : tensors) {
        std::size_t num_written = 0;
        const auto write = [&](std::span<const std::byte> bytes) {
            file.write(reinterpret_cast<const char*>(bytes.data()),
                       static_cast<std::streamsize>(bytes.size()));
            num_written += bytes.size();
        };
        if (auto produced = tensor.produce(write); !produced) return produced;
        if (num_written != tensor_bytes(tensor.info)) {
            return failure(StatusKind::kInternal,
                           fmt::format("{} was written with {} bytes instead of {}.", tensor.info.name,
                                       num_written, tensor_bytes(tensor.info)));
        }
        if (!file) break;
    }
    return {};
}

}  // namespace

Result<void> write_safetensors(const fs::path& path, const std::vector<TensorToWrite>& tensors) {
    fs::path temporary_path = path;
    temporary_path += ".new";
    std::ofstream file(temporary_path, std::ios::binary | std::ios::trunc);
    Result<void> written = write_all(file, tensors);
    file.close();
    std::error_code error;
    if (written && file) fs::rename(temporary_path, path, error);
    if (written && file && !error) return {};
    std::error_code ignored;  // the failure that is reported came first
    fs::remove(temporary_path, ignored);
    if (!written) return written;
    return failure(StatusKind::kNotFound,
                   fmt::format("{} could not be written{}. Check the folder and the free space.",
                               display_name(path), error ? ": " + error.message() : ""));
}

}  // namespace glmchat
