#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "engine/loader/checkpoint.h"
#include "engine/status.h"

namespace glmchat {

/// A tensor to be written: its description now, its bytes when their turn comes, so that only one is in
/// memory at a time.
struct TensorToWrite {
    TensorInfo info;  ///< file_name is not used
    std::function<Result<void>(const std::function<void(std::span<const std::byte>)>& write)> produce;
};

/// Writes one .safetensors file through a temporary name, so that a file under the final name is always
/// complete. Errors: kNotFound when it cannot be written (the message has the path), and whatever `produce`
/// returns.
Result<void> write_safetensors(const std::filesystem::path& path, const std::vector<TensorToWrite>& tensors);

}  // namespace glmchat
