#include "engine/loader/safetensors.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/loader/json_text.h"
#include "engine/loader/message.h"

namespace glmchat {
namespace {

using nlohmann::json;

constexpr std::size_t kLengthBytes = 8;
/// Real headers have some hundred kilobytes; the parsed form may take twenty times the text.
constexpr std::size_t kMostHeaderBytes = std::size_t{4} << 20U;

constexpr std::array<std::pair<std::string_view, DataType>, 10> kDataTypes{{{"F64", DataType::kFloat64},
                                                                            {"F32", DataType::kFloat32},
                                                                            {"F16", DataType::kFloat16},
                                                                            {"BF16", DataType::kBFloat16},
                                                                            {"I64", DataType::kInt64},
                                                                            {"I32", DataType::kInt32},
                                                                            {"I16", DataType::kInt16},
                                                                            {"I8", DataType::kInt8},
                                                                            {"U8", DataType::kUInt8},
                                                                            {"BOOL", DataType::kBool}}};

/// A list of whole numbers >= 0; nullopt for anything else.
std::optional<std::vector<std::int64_t>> read_counts(const json& entry, const char* key) {
    const auto list = entry.find(key);
    if (list == entry.end() || !list->is_array()) return std::nullopt;
    std::vector<std::int64_t> counts;
    for (const json& item : *list) {
        if (!item.is_number_unsigned() || item.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
        counts.push_back(item.get<std::int64_t>());
    }
    return counts;
}

Result<DataType> read_data_type(const json& entry, std::string_view tensor, std::string_view file_name) {
    const auto name = entry.find("dtype");
    if (name == entry.end() || !name->is_string()) {
        return bad_file(file_name, fmt::format("tensor {} has no dtype", in_quotes(tensor)));
    }
    const auto& text = name->get_ref<const std::string&>();
    const auto known = std::ranges::find(kDataTypes, text, &std::pair<std::string_view, DataType>::first);
    if (known != kDataTypes.end()) return known->second;
    return refuse_file(StatusKind::kUnsupported, file_name,
                       fmt::format("tensor {} has the unknown dtype {}", in_quotes(tensor), in_quotes(text)),
                       "use a checkpoint in float32, float16, bfloat16 or the official int8/int4 form");
}

Result<StoredTensor> read_entry(const std::string& name, const json& entry, std::span<const std::byte> data,
                                std::string_view file_name) {
    const auto refuse = [&](std::string_view finding) {
        return bad_file(file_name, fmt::format("tensor {} {}", in_quotes(name), finding));
    };
    if (!entry.is_object()) return refuse("has no description");
    const auto type = read_data_type(entry, name, file_name);
    if (!type) return tl::unexpected(type.error());
    auto shape = read_counts(entry, "shape");
    if (!shape) return refuse("has an impossible shape (not a list of whole numbers >= 0)");
    const auto offsets = read_counts(entry, "data_offsets");
    if (!offsets || offsets->size() != 2) return refuse("has no usable data_offsets");

    const auto begin = static_cast<std::size_t>((*offsets)[0]);
    const auto end = static_cast<std::size_t>((*offsets)[1]);
    if (begin > end || end > data.size()) return refuse("lies outside the file (cut short, or a bad header)");
    const auto bytes = checked_tensor_bytes(*shape, *type);
    if (!bytes) return refuse("has an impossible shape (too large or too many dimensions)");
    if (*bytes != end - begin) return refuse("has a shape that does not match its stored bytes");
    auto strides = row_major_strides(*shape);
    return StoredTensor{{name, *type, std::move(*shape), std::string(file_name)},
                        std::move(strides),
                        0,
                        data.subspan(begin, *bytes)};
}

/// @param tensors  sorted by position
Result<void> check_coverage(const std::vector<StoredTensor>& tensors, std::span<const std::byte> data,
                            std::string_view file_name) {
    const std::byte* covered = data.data();
    for (const StoredTensor& tensor : tensors) {
        if (tensor.storage.data() != covered) {
            return bad_file(file_name,
                            fmt::format("tensor {} overlaps its neighbour or leaves a hole before it",
                                        in_quotes(tensor.info.name)));
        }
        covered += tensor.storage.size();
    }
    if (covered == data.data() + data.size()) return {};
    return bad_file(file_name, "there are bytes after the last tensor");
}

}  // namespace

Result<std::vector<StoredTensor>> read_safetensors(std::span<const std::byte> file,
                                                   std::string_view file_name) {
    if (file.size() < kLengthBytes) {
        return bad_file(file_name, "the file is cut short (no safetensors header)");
    }
    std::uint64_t header_bytes = 0;
    std::memcpy(&header_bytes, file.data(), kLengthBytes);
    if (header_bytes > file.size() - kLengthBytes) {
        return bad_file(
            file_name,
            fmt::format("the file is cut short or damaged (its header should have {} bytes)", header_bytes));
    }
    const auto body = file.subspan(kLengthBytes);
    const auto data = body.subspan(header_bytes);
    const auto header = parse_json_object({reinterpret_cast<const char*>(body.data()), header_bytes},
                                          file_name, kMostHeaderBytes);
    if (!header) return tl::unexpected(header.error());

    std::vector<StoredTensor> tensors;
    for (const auto& [name, entry] : header->items()) {
        if (name == "__metadata__") continue;
        auto tensor = read_entry(name, entry, data, file_name);
        if (!tensor) return tl::unexpected(tensor.error());
        tensors.push_back(std::move(*tensor));
    }
    // An empty tensor goes before the one that starts at the same place.
    std::ranges::stable_sort(tensors, {}, [](const StoredTensor& tensor) {
        return std::pair(tensor.storage.data(), tensor.storage.size());
    });
    if (const auto covered = check_coverage(tensors, data, file_name); !covered) {
        return tl::unexpected(covered.error());
    }
    return tensors;
}

}  // namespace glmchat
