#include "engine/loader/foreign_format.h"

#include <array>
#include <string_view>

#include "engine/loader/message.h"

namespace glmchat {
namespace {

using std::string_view_literals::operator""sv;

struct ForeignFormat {
    std::string_view magic;
    StatusKind kind;
    std::string_view finding;
    std::string_view remedy;
};

constexpr std::string_view kOfficialFolder =
    "choose a folder in the official layout (config.json with .safetensors or .bin)";

constexpr std::array<ForeignFormat, 11> kForeignFormats{{
    {"version https://git-lfs", StatusKind::kBadFile,
     "this is only a Git-LFS pointer, the file itself was not downloaded",
     "run \"git lfs pull\" in the model folder or download the file from the model's page"},
    {"GGUF", StatusKind::kUnsupported, "this is a GGUF file", kOfficialFolder},
    // The GGML family writes its magic as a little-endian number or as text.
    {"lmgg", StatusKind::kUnsupported, "this is a GGML file", kOfficialFolder},
    {"ggml", StatusKind::kUnsupported, "this is a GGML file", kOfficialFolder},
    {"fmgg", StatusKind::kUnsupported, "this is a GGML (GGMF) file", kOfficialFolder},
    {"tjgg", StatusKind::kUnsupported, "this is a GGML (GGJT) file", kOfficialFolder},
    {"\x89HDF\r\n", StatusKind::kUnsupported, "this is an HDF5 file", kOfficialFolder},
    {"<!DOCTYPE", StatusKind::kBadFile, "this is a web page, saved in place of the file", kDownloadAgain},
    {"<html", StatusKind::kBadFile, "this is a web page, saved in place of the file", kDownloadAgain},
    {"\x1F\x8B"sv, StatusKind::kUnsupported, "this is a gzip archive", "unpack it first"},
    {"7z\xBC\xAF\x27\x1C"sv, StatusKind::kUnsupported, "this is a 7z archive", "unpack it first"},
}};

}  // namespace

Result<void> refuse_foreign_format(std::string_view content, std::string_view file_name) {
    if (content.empty()) return bad_file(file_name, "the file is empty");
    for (const ForeignFormat& format : kForeignFormats) {
        if (content.starts_with(format.magic)) {
            return refuse_file(format.kind, file_name, format.finding, format.remedy);
        }
    }
    return {};
}

}  // namespace glmchat
