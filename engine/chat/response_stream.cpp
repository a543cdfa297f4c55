#include "engine/chat/response_stream.h"

#include <algorithm>

namespace glmchat {
namespace {

/// Bytes at the end of `text` that could be the beginning of one of the replaced texts.
std::size_t begun_replacement_bytes(std::string_view text, std::span<const TextReplacement> replacements) {
    std::size_t longest = 0;
    for (const TextReplacement& replacement : replacements) {
        for (std::size_t size = std::min(text.size(), replacement.from.size() - 1); size > longest; --size) {
            if (text.ends_with(replacement.from.substr(0, size))) longest = size;
        }
    }
    return longest;
}

std::string replace_all(std::string_view text, std::span<const TextReplacement> replacements) {
    std::string result(text);
    for (const TextReplacement& replacement : replacements) replace_text(result, replacement);
    return result;
}

}  // namespace

std::string ResponseStream::push(std::string_view text) {
    held_ += text;
    if (shown_.empty()) held_.erase(0, leading_space_bytes(held_));
    const std::size_t begun = begun_replacement_bytes(held_, format_.response_replacements());
    const std::string_view settled = std::string_view(held_).substr(0, held_.size() - begun);
    return show(settled.size() - trailing_space_bytes(settled));
}

std::string ResponseStream::finish() {
    std::string rest = show(held_.size() - trailing_space_bytes(held_));
    held_.clear();
    return rest;
}

std::string ResponseStream::show(std::size_t num_bytes) {
    std::string text =
        replace_all(std::string_view(held_).substr(0, num_bytes), format_.response_replacements());
    held_.erase(0, num_bytes);
    shown_ += text;
    return text;
}

}  // namespace glmchat
