#include "engine/loader/weight_file.h"

#include <cstddef>
#include <string_view>
#include <utility>

#include "engine/loader/foreign_format.h"
#include "engine/loader/message.h"
#include "engine/loader/safetensors.h"
#include "engine/loader/torch_file.h"

namespace glmchat {
namespace {

using ReadTensors = Result<std::vector<StoredTensor>> (*)(std::span<const std::byte> file,
                                                          std::string_view file_name);

struct Format {
    std::string_view name;
    ReadTensors read;
};

constexpr Format kSafetensors{"safetensors", read_safetensors};
constexpr Format kTorchZip{"bin (zip)", read_torch_zip};
constexpr Format kTorchLegacy{"bin (legacy)", read_torch_legacy};

/// Null when nothing fits.
const Format* format_of(const MappedFile& file) {
    const std::string_view text = file.text();
    // 8 bytes header length, then JSON; asked first, as a length may begin like any other format.
    if (text.size() > 8 && text[8] == '{') return &kSafetensors;
    if (text.starts_with("PK")) return &kTorchZip;
    if (text.starts_with('\x80')) return &kTorchLegacy;  // a pickle's PROTO opcode
    return file.path().extension() == ".safetensors" ? &kSafetensors : nullptr;
}

}  // namespace

Result<WeightFile> open_weight_file(const std::filesystem::path& path) {
    auto file = MappedFile::open(path);
    if (!file) return tl::unexpected(std::move(file.error()));
    const std::string file_name = display_name(path);
    if (auto own = refuse_foreign_format((*file)->text(), file_name); !own) {
        return tl::unexpected(std::move(own.error()));
    }
    const Format* format = format_of(**file);
    if (format == nullptr) {
        return bad_file(file_name, "its first bytes belong to no weight format this program knows");
    }
    auto tensors = format->read((*file)->bytes(), file_name);
    if (!tensors) return tl::unexpected(std::move(tensors.error()));
    return WeightFile{std::move(*file), std::string(format->name), std::move(*tensors)};
}

}  // namespace glmchat
