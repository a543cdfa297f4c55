#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/tokenizer/model_proto.h"
#include "engine/tokenizer/tokenizer.h"

namespace glmchat {

/// The vocabulary with the family's special tokens appended by id: what each id is when text is put together
/// again.
class PieceTable {
  public:
    enum class Kind : std::uint8_t { kText, kByte, kInvisible };

    explicit PieceTable(const std::vector<ModelProtoPiece>& pieces);

    /// Ids outside the table are invisible.
    Kind kind(std::int32_t id) const;
    /// Of a kText id: the piece with U+2581 as it is written in the vocabulary. Of others: their written
    /// name.
    std::string_view text(std::int32_t id) const;
    char byte(std::int32_t id) const;  ///< of a kByte id

    std::int32_t num_pieces() const { return num_pieces_; }
    std::int32_t size() const { return static_cast<std::int32_t>(entries_.size()); }
    std::size_t max_piece_bytes() const { return max_piece_bytes_; }
    const SpecialTokens& special_tokens() const { return special_tokens_; }

  private:
    struct Entry {
        Kind kind = Kind::kInvisible;
        char byte = 0;
        std::string text;
    };
    bool contains(std::int32_t id) const { return id >= 0 && id < size(); }

    std::vector<Entry> entries_;
    std::int32_t num_pieces_ = 0;
    std::size_t max_piece_bytes_ = 0;
    SpecialTokens special_tokens_;
};

/// Puts ids together into text, by the rules of the official tokenizer (see Tokenizer::decode). One object
/// per text.
class PieceJoiner {
  public:
    explicit PieceJoiner(const PieceTable& table) : table_(table) {}

    std::string push(std::int32_t id);          ///< @return characters that became final
    std::string finish();                       ///< @return what was held back, ill-formed bytes as U+FFFD
    void mark_visible() { at_start_ = false; }  ///< something else was shown in front of the next id

  private:
    void append_bytes(bool is_run_over, std::string& text);
    void append_piece(std::string_view piece, std::string& text);

    const PieceTable& table_;
    std::string byte_run_;  ///< bytes not yet shown: the beginning of a character
    bool at_start_ = true;  ///< nothing visible yet: the next piece loses one leading U+2581
};

}  // namespace glmchat
