#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "engine/loader/stored_tensor.h"
#include "engine/status.h"

namespace glmchat {

/// Both read a file that torch.save wrote. `file` is the whole file, untrusted, and must outlive the result;
/// nothing in it is executed. @return the tensors in the order of the state dict

/// The zip format (torch 1.6 and later): `<root>/data.pkl` and one entry `<root>/data/<key>` per storage; the
/// root is free.
Result<std::vector<StoredTensor>> read_torch_zip(std::span<const std::byte> file, std::string_view file_name);

/// The format before: five pickles (magic number, protocol version, writer's facts, state dict, list of
/// storage keys), then for each key the number of elements (8 bytes) and the storage's bytes.
Result<std::vector<StoredTensor>> read_torch_legacy(std::span<const std::byte> file,
                                                    std::string_view file_name);

}  // namespace glmchat
