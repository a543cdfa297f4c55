#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/check.h"

#include "engine/loader/checkpoint.h"
#include "engine/status.h"

namespace glmchat::test {

/// A fresh folder whose name has Chinese characters, a space and an ideographic space (U+3000); removed with
/// its content.
class TempFolder {
  public:
    TempFolder();
    ~TempFolder();
    TempFolder(const TempFolder&) = delete;
    TempFolder& operator=(const TempFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    /// Writes a file of that UTF-8 name.
    std::filesystem::path write(std::string_view name, std::string_view content) const;

  private:
    std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);
/// tests/golden/loader of the source tree.
std::filesystem::path golden_folder();

std::string little_endian(std::uint64_t number, std::size_t num_bytes);
/// 8 bytes header length, header, data.
std::string safetensors_file(std::string_view header, std::string_view data);
/// A zip archive of stored entries (name, data), without alignment.
std::string zip_file(const std::vector<std::pair<std::string, std::string>>& entries);

/// Passes when `status` has the kind, its message is one sentence "<file>: <finding>; <remedy>." that begins
/// with `file_name`, and contains `finding`.
CheckResult expect_refusal(const Status& status, StatusKind kind, std::string_view file_name,
                           std::string_view finding);

template <typename T>
CheckResult expect_refused(const Result<T>& result, StatusKind kind, std::string_view file_name,
                           std::string_view finding) {
    if (result) return failed("was accepted");
    return expect_refusal(result.error(), kind, file_name, finding);
}

/// Bytes of a tensor, in lower-case hexadecimal.
std::string hex(std::span<const std::byte> bytes);

}  // namespace glmchat::test
