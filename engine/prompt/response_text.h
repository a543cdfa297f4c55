#pragma once

#include <span>
#include <string>
#include <string_view>

namespace glmchat {

/// Text of an answer that the application shows otherwise.
struct TextReplacement {
    std::string_view from;
    std::string_view to;
};

/// Bytes of Unicode white space (as Python's str.strip() has it) at the beginning and at the end of valid
/// UTF-8 text.
std::size_t leading_space_bytes(std::string_view text);
std::size_t trailing_space_bytes(std::string_view text);

/// Replaces every occurrence in `text`.
void replace_text(std::string& text, const TextReplacement& replacement);

/// Trims white space at both ends, then replaces every occurrence.
std::string process_response_text(std::string_view text, std::span<const TextReplacement> replacements);

}  // namespace glmchat
