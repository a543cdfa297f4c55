#include "engine/prompt/response_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace glmchat {
namespace {

constexpr std::size_t kMaxCharacterBytes = 4;

struct CodePointRange {
    char32_t first;
    char32_t last;
};

/// What Python's str.isspace() accepts.
constexpr std::array<CodePointRange, 10> kWhiteSpace = {{{0x0009, 0x000D},
                                                         {0x001C, 0x0020},
                                                         {0x0085, 0x0085},
                                                         {0x00A0, 0x00A0},
                                                         {0x1680, 0x1680},
                                                         {0x2000, 0x200A},
                                                         {0x2028, 0x2029},
                                                         {0x202F, 0x202F},
                                                         {0x205F, 0x205F},
                                                         {0x3000, 0x3000}}};

bool is_white_space(char32_t code_point) {
    return std::any_of(kWhiteSpace.begin(), kWhiteSpace.end(), [code_point](const CodePointRange& range) {
        return code_point >= range.first && code_point <= range.last;
    });
}

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// Decodes one character of well-formed UTF-8.
char32_t code_point_of(std::string_view character) {
    const auto lead = static_cast<unsigned char>(character.front());
    if (character.size() == 1) return lead;
    char32_t code_point = lead & (0xFFU >> (character.size() + 1));
    for (const char byte : character.substr(1))
        code_point = (code_point << 6) | (static_cast<unsigned char>(byte) & 0x3FU);
    return code_point;
}

// Bounded by the longest character, so that ill-formed text is merely not white space.
std::size_t first_character_bytes(std::string_view text) {
    std::size_t size = 1;
    while (size < std::min(text.size(), kMaxCharacterBytes) && is_continuation(text[size])) ++size;
    return size;
}

std::size_t last_character_bytes(std::string_view text) {
    std::size_t size = 1;
    while (size < std::min(text.size(), kMaxCharacterBytes) && is_continuation(text[text.size() - size]))
        ++size;
    return size;
}

}  // namespace

std::size_t leading_space_bytes(std::string_view text) {
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        const std::size_t size = first_character_bytes(text.substr(bytes));
        if (!is_white_space(code_point_of(text.substr(bytes, size)))) break;
        bytes += size;
    }
    return bytes;
}

std::size_t trailing_space_bytes(std::string_view text) {
    std::size_t bytes = 0;
    while (bytes < text.size()) {
        const std::string_view rest = text.substr(0, text.size() - bytes);
        const std::size_t size = last_character_bytes(rest);
        if (!is_white_space(code_point_of(rest.substr(rest.size() - size)))) break;
        bytes += size;
    }
    return bytes;
}

void replace_text(std::string& text, const TextReplacement& replacement) {
    for (std::size_t at = text.find(replacement.from); at != std::string::npos;
         at = text.find(replacement.from, at + replacement.to.size())) {
        text.replace(at, replacement.from.size(), replacement.to);
    }
}

std::string process_response_text(std::string_view text, std::span<const TextReplacement> replacements) {
    text.remove_prefix(leading_space_bytes(text));
    text.remove_suffix(trailing_space_bytes(text));
    std::string result(text);
    for (const TextReplacement& replacement : replacements) replace_text(result, replacement);
    return result;
}

}  // namespace glmchat
