#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "engine/status.h"

namespace glmchat {

/// One stored file of a zip archive. Both fields lie in the archive.
struct ZipEntry {
    std::string_view name;
    std::span<const std::byte> data;
};

/// Reads the central directory of a zip archive (zip64 too) whose files are stored uncompressed, as
/// torch.save writes them. Compressed or encrypted entries are refused, so nothing ever grows while it is
/// read.
/// @param file       the whole archive, untrusted; must outlive the result
/// @param file_name  for messages
Result<std::vector<ZipEntry>> read_zip_archive(std::span<const std::byte> file, std::string_view file_name);

}  // namespace glmchat
