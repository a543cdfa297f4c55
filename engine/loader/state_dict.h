#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/loader/pickle.h"
#include "engine/loader/stored_tensor.h"
#include "engine/status.h"

namespace glmchat {

/// A storage as a pickle names it (torch's persistent id): where its bytes are is up to the file format.
struct PickledStorage {
    std::string_view key;
    DataType type = DataType::kFloat32;
    std::int64_t num_elements = 0;
};

/// Nullopt when the value is no persistent id of a storage.
std::optional<PickledStorage> read_storage_id(const Pickle& pickle, const PickleValue& value);

/// Bytes of a storage, of exactly its size; or why there are none.
using FindStorage = std::function<Result<std::span<const std::byte>>(const PickledStorage&)>;

/// The tensors of a pickled state dict, in its order, all checked against their storages. A dictionary with a
/// "state_dict" in it stands for that one (training checkpoints).
Result<std::vector<StoredTensor>> read_state_dict(const Pickle& pickle, const FindStorage& find_storage,
                                                  std::string_view file_name);

}  // namespace glmchat
