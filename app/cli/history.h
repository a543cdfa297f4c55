#pragma once

#include <string>
#include <vector>

#include "engine/prompt/chat_format.h"
#include "engine/status.h"

namespace glmchat::cli {

/// Reads a JSON list of {"role": "system"|"user"|"assistant", "content": text}. "" gives no messages.
/// Errors: kNotFound, kBadFile naming the entry that is wrong.
Result<std::vector<ChatMessage>> read_history(const std::string& path);

}  // namespace glmchat::cli
