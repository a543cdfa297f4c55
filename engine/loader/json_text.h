#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

#include "engine/status.h"

namespace glmchat {

/// Parses untrusted JSON text that must be one object. Refuses text over max_bytes (so that memory stays
/// bounded), nesting over 32 levels and an object that names a key twice (readers would disagree about which
/// one counts).
Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view file_name,
                                         std::size_t max_bytes);

}  // namespace glmchat
