#include "engine/loader/message.h"

#include <cstddef>

#include <fmt/format.h>

namespace glmchat {
namespace {

constexpr std::size_t kLongestQuote = 80;

/// Bytes of the well-formed, printable UTF-8 character that `text` begins with; 0 when there is none.
std::size_t character_bytes(std::string_view text) {
    const auto lead = static_cast<unsigned char>(text[0]);
    if (lead < 0x20 || lead == 0x7F) return 0;
    if (lead < 0x80) return 1;
    const std::size_t bytes = lead >= 0xF0 && lead < 0xF5   ? 4
                              : lead >= 0xE0 && lead < 0xF0 ? 3
                              : lead >= 0xC2 && lead < 0xE0 ? 2
                                                            : 0;
    if (bytes == 0 || text.size() < bytes) return 0;
    for (std::size_t i = 1; i < bytes; ++i) {
        if ((static_cast<unsigned char>(text[i]) & 0xC0U) != 0x80U) return 0;
    }
    return bytes;
}

}  // namespace

std::string printable(std::string_view text) {
    std::string result;
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        if (result.size() + bytes > kLongestQuote) return result + "...";
        result += bytes == 0 ? std::string_view("?") : text.substr(0, bytes);
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
    return result;
}

std::string in_quotes(std::string_view text) {
    return '"' + printable(text) + '"';
}

tl::unexpected<Status> refuse_file(StatusKind kind, std::string_view file_name, std::string_view finding,
                                   std::string_view remedy) {
    return failure(kind, fmt::format("{}: {}; {}.", file_name, finding, remedy));
}

}  // namespace glmchat
