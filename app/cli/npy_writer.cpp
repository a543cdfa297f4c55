#include "app/cli/npy_writer.h"

#include <bit>
#include <cstdint>
#include <fstream>
#include <string>

#include <fmt/format.h>

namespace glmchat::cli {

static_assert(std::endian::native == std::endian::little, "the file is written as little-endian memory");

Result<void> write_npy(const std::filesystem::path& path, std::span<const float> values, std::int64_t rows,
                       std::int64_t cols) {
    constexpr std::size_t kAlignment =
        64;  // NumPy pads the header so that the data starts at a multiple of this
    std::string header =
        fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, cols);
    const std::size_t preamble_size = 10;
    const std::size_t padding = kAlignment - (preamble_size + header.size() + 1) % kAlignment;
    header.append(padding % kAlignment, ' ').push_back('\n');
    const auto header_size = static_cast<std::uint16_t>(header.size());

    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write("\x93NUMPY\x01\x00", 8);
    file.write(reinterpret_cast<const char*>(&header_size), sizeof(header_size));
    file << header;
    file.write(reinterpret_cast<const char*>(values.data()),
               static_cast<std::streamsize>(values.size_bytes()));
    file.flush();
    if (!file)
        return failure(
            StatusKind::kNotFound,
            fmt::format("{} could not be written. Check the folder and the free space.", path.string()));
    return {};
}

}  // namespace glmchat::cli
