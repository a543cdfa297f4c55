#include "engine/tokenizer/piece_table.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "engine/tokenizer/utf8.h"

namespace glmchat {
namespace {

struct AppendedToken {
    const char* name;
    std::int32_t SpecialTokens::*id;
};

/// In the order in which ChatGLM2 appends them to the pieces.
constexpr std::array<AppendedToken, 5> kAppendedTokens = {{{"[MASK]", &SpecialTokens::mask},
                                                           {"[gMASK]", &SpecialTokens::gmask},
                                                           {"[sMASK]", &SpecialTokens::smask},
                                                           {"sop", &SpecialTokens::sop},
                                                           {"eop", &SpecialTokens::eop}}};

/// "<0xE4>" to its byte; read_model_proto() has checked the form.
char parse_byte(std::string_view text) {
    unsigned int value = 0;
    std::from_chars(text.data() + 3, text.data() + 5, value, 16);
    return static_cast<char>(value);
}

}  // namespace

PieceTable::PieceTable(const std::vector<ModelProtoPiece>& pieces)
    : num_pieces_(static_cast<std::int32_t>(pieces.size())) {
    using Type = ModelProtoPiece::Type;
    entries_.reserve(pieces.size() + kAppendedTokens.size());
    for (const ModelProtoPiece& piece : pieces) {
        Entry entry;
        entry.text = piece.text;
        // Encoding makes an unused piece only of a single character, which must not get lost.
        if (piece.type == Type::kNormal || piece.type == Type::kUnused) entry.kind = Kind::kText;
        if (piece.type == Type::kByte) {
            entry.kind = Kind::kByte;
            entry.byte = parse_byte(piece.text);
        }
        max_piece_bytes_ = std::max(max_piece_bytes_, piece.text.size());
        entries_.push_back(std::move(entry));
    }
    for (const AppendedToken& token : kAppendedTokens) {
        special_tokens_.*token.id = size();
        entries_.push_back({Kind::kInvisible, 0, token.name});
    }
}

PieceTable::Kind PieceTable::kind(std::int32_t id) const {
    return contains(id) ? entries_[static_cast<std::size_t>(id)].kind : Kind::kInvisible;
}

std::string_view PieceTable::text(std::int32_t id) const {
    return contains(id) ? std::string_view(entries_[static_cast<std::size_t>(id)].text) : std::string_view();
}

char PieceTable::byte(std::int32_t id) const {
    return entries_[static_cast<std::size_t>(id)].byte;
}

std::string PieceJoiner::push(std::int32_t id) {
    std::string text;
    const PieceTable::Kind kind = table_.kind(id);
    if (kind == PieceTable::Kind::kByte) byte_run_ += table_.byte(id);
    // Any id that is not a byte ends the run, even one that shows nothing.
    append_bytes(/*is_run_over=*/kind != PieceTable::Kind::kByte, text);
    if (kind == PieceTable::Kind::kText) append_piece(table_.text(id), text);
    return text;
}

std::string PieceJoiner::finish() {
    std::string text;
    append_bytes(/*is_run_over=*/true, text);
    return text;
}

void PieceJoiner::append_bytes(bool is_run_over, std::string& text) {
    std::string_view rest = byte_run_;
    while (!rest.empty()) {
        const Utf8Prefix prefix = utf8_prefix(rest);
        if (prefix.kind == Utf8Prefix::Kind::kIncomplete && !is_run_over) break;
        const bool is_character = prefix.kind == Utf8Prefix::Kind::kCharacter;
        text += is_character ? rest.substr(0, prefix.size) : kReplacementCharacter;
        rest.remove_prefix(is_character ? prefix.size : 1);
        at_start_ = false;
    }
    byte_run_.erase(0, byte_run_.size() - rest.size());
}

void PieceJoiner::append_piece(std::string_view piece, std::string& text) {
    if (at_start_ && piece.starts_with(kSpaceSymbol)) piece.remove_prefix(kSpaceSymbol.size());
    at_start_ = false;
    while (!piece.empty()) {
        const bool is_space = piece.starts_with(kSpaceSymbol);
        text += is_space ? ' ' : piece.front();
        piece.remove_prefix(is_space ? kSpaceSymbol.size() : 1);
    }
}

}  // namespace glmchat
