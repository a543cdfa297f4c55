#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace glmchat {

inline constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";  // U+FFFD
inline constexpr std::string_view kSpaceSymbol = "\xE2\x96\x81";           // U+2581, sentencepiece's space

/// What stands at the beginning of some bytes.
struct Utf8Prefix {
    enum class Kind {
        kCharacter,   ///< a well-formed character of `size` bytes
        kIncomplete,  ///< the bytes end inside what may still become a character
        kIllFormed    ///< the first byte begins no character here
    };
    Kind kind = Kind::kIllFormed;
    std::size_t size = 1;
};

/// Looks at the first character of `bytes` (not empty). Overlong forms, surrogates and values above U+10FFFF
/// are ill-formed.
Utf8Prefix utf8_prefix(std::string_view bytes);

/// `bytes` with every ill-formed byte replaced by U+FFFD.
std::string to_valid_utf8(std::string_view bytes);

}  // namespace glmchat
