#include "engine/tokenizer/utf8.h"

#include <array>

namespace glmchat {
namespace {

/// A row of Unicode's table of well-formed UTF-8 byte sequences: all bytes after the second are 80..BF.
struct LeadByte {
    unsigned char first;
    unsigned char last;
    std::size_t size;
    unsigned char second_first;
    unsigned char second_last;
};

constexpr std::array<LeadByte, 9> kLeadBytes = {{{0x00, 0x7F, 1, 0, 0},
                                                 {0xC2, 0xDF, 2, 0x80, 0xBF},
                                                 {0xE0, 0xE0, 3, 0xA0, 0xBF},
                                                 {0xE1, 0xEC, 3, 0x80, 0xBF},
                                                 {0xED, 0xED, 3, 0x80, 0x9F},
                                                 {0xEE, 0xEF, 3, 0x80, 0xBF},
                                                 {0xF0, 0xF0, 4, 0x90, 0xBF},
                                                 {0xF1, 0xF3, 4, 0x80, 0xBF},
                                                 {0xF4, 0xF4, 4, 0x80, 0x8F}}};

const LeadByte* find_lead_byte(unsigned char byte) {
    for (const LeadByte& row : kLeadBytes) {
        if (byte >= row.first && byte <= row.last) return &row;
    }
    return nullptr;
}

}  // namespace

Utf8Prefix utf8_prefix(std::string_view bytes) {
    const LeadByte* lead = find_lead_byte(static_cast<unsigned char>(bytes.front()));
    if (lead == nullptr) return {};
    for (std::size_t i = 1; i < lead->size; ++i) {
        if (i == bytes.size()) return {Utf8Prefix::Kind::kIncomplete, bytes.size()};
        const auto byte = static_cast<unsigned char>(bytes[i]);
        const unsigned char first = i == 1 ? lead->second_first : 0x80;
        const unsigned char last = i == 1 ? lead->second_last : 0xBF;
        if (byte < first || byte > last) return {};
    }
    return {Utf8Prefix::Kind::kCharacter, lead->size};
}

std::string to_valid_utf8(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const Utf8Prefix prefix = utf8_prefix(bytes);
        const bool is_character = prefix.kind == Utf8Prefix::Kind::kCharacter;
        text += is_character ? bytes.substr(0, prefix.size) : kReplacementCharacter;
        bytes.remove_prefix(is_character ? prefix.size : 1);
    }
    return text;
}

}  // namespace glmchat
