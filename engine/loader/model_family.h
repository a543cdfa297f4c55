#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "engine/loader/model_config.h"
#include "engine/status.h"

namespace glmchat {

/// Tells which model a config.json describes.
/// Errors: kUnsupported, naming the model, when this version does not run it or cannot tell it apart.
Result<ModelFamily> identify_family(const nlohmann::json& config, std::string_view file_name);

}  // namespace glmchat
