#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "engine/status.h"

namespace glmchat::cli {

/// Writes float32 [rows, cols] as a NumPy file. Errors: kNotFound when it cannot be written.
Result<void> write_npy(const std::filesystem::path& path, std::span<const float> values, std::int64_t rows,
                       std::int64_t cols);

}  // namespace glmchat::cli
