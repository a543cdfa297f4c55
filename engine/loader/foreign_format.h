#pragma once

#include <string_view>

#include "engine/status.h"

namespace glmchat {

/// Refuses what is often found in the place of a model file: nothing at all, a Git-LFS pointer, another
/// program's format, a web page. Says which it is.
/// @param content    the whole file, or at least its first 64 bytes
/// @param file_name  for messages
Result<void> refuse_foreign_format(std::string_view content, std::string_view file_name);

}  // namespace glmchat
