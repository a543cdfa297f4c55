#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/status.h"

namespace glmchat {

/// One complete set of weight files as a folder offers it.
struct WeightSet {
    std::vector<std::filesystem::path> files;  ///< in shard order
    std::map<std::string, std::string>
        weight_map;          ///< tensor name -> shard name, from the index; empty without one
    std::string index_name;  ///< of the index file; empty without one
};

/// Everything a folder offers, the preferred set first: safetensors before .bin; index, single file, numbered
/// shards.
struct WeightSets {
    std::vector<WeightSet> complete;
    std::vector<Status> incomplete;  ///< why a set that the folder begins cannot be used
};

/// Looks at names and index files only.
/// Errors: kNotFound (no such folder, no weights in it; says what was found instead), kInvalidArgument (a
/// file).
Result<WeightSets> find_weight_sets(const std::filesystem::path& folder);

}  // namespace glmchat
