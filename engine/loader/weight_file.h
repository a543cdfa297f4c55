#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "engine/loader/checkpoint.h"
#include "engine/loader/stored_tensor.h"
#include "engine/status.h"

namespace glmchat {

/// One opened file of weights: its mapping and what its header says, all checked; no tensor data has been
/// read.
struct WeightFile {
    std::shared_ptr<const MappedFile> file;
    std::string format;  ///< as Checkpoint::format()
    std::vector<StoredTensor> tensors;
};

/// Maps the file, tells its format by its first bytes (the name decides only in doubt) and reads its header.
Result<WeightFile> open_weight_file(const std::filesystem::path& path);

}  // namespace glmchat
