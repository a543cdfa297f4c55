#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "engine/loader/stored_tensor.h"
#include "engine/status.h"

namespace glmchat {

/// Reads the header of a `.safetensors` file: 8 bytes little-endian header length, a JSON object (name ->
/// dtype, shape, data_offsets), then the tensors' bytes. As the format demands, the tensors cover the data
/// without hole or overlap.
/// @param file       the whole file, untrusted; must outlive the result
/// @param file_name  for messages
/// @return the tensors in file order
Result<std::vector<StoredTensor>> read_safetensors(std::span<const std::byte> file,
                                                   std::string_view file_name);

}  // namespace glmchat
