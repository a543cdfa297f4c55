#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/generate/text_decoder.h"
#include "engine/status.h"

namespace glmchat {

/// Special ids of a family. ChatGLM2 appends them, by id, after the sentencepiece pieces.
struct SpecialTokens {
    std::int32_t bos = 1;
    std::int32_t eos = 2;
    std::int32_t mask = 0;
    std::int32_t gmask = 0;
    std::int32_t smask = 0;
    std::int32_t sop = 0;
    std::int32_t eop = 0;
};

/// Text to ids and back. What a user types never becomes a special id. Immutable; any thread.
class Tokenizer {
  public:
    /// Reads `tokenizer.model` in `folder` into memory and parses it from there.
    /// Errors: kNotFound (missing), kBadFile (Git-LFS pointer, truncated, not a sentencepiece model),
    /// kUnsupported (the GLM-4 vocabulary of the same name, a model that splits text otherwise), each with
    /// the finding and the remedy.
    static Result<std::shared_ptr<const Tokenizer>> open_folder(const std::filesystem::path& folder);
    /// Parses a serialised sentencepiece model. `file_name` is for messages.
    static Result<std::shared_ptr<const Tokenizer>> from_bytes(std::string_view model,
                                                               std::string_view file_name);
    ~Tokenizer();

    /// Ids of `text` as one segment (dummy prefix included), no specials. Any bytes are accepted; ill-formed
    /// UTF-8 is replaced by U+FFFD first. "" gives no ids.
    std::vector<std::int32_t> encode(std::string_view text) const;
    /// Text of a whole id list by the official rules: every ill-formed byte of a byte run gives one U+FFFD;
    /// ids 0, 1, 2, specials and ids outside the table show nothing; only the first visible piece loses one
    /// leading U+2581.
    std::string decode(std::span<const std::int32_t> ids) const;
    /// The raw bytes of the same id list: byte pieces stay as they are, without U+FFFD.
    std::string decode_bytes(std::span<const std::int32_t> ids) const;
    /// The piece of one id as written in the vocabulary ("▁你", "<0xE4>", "[gMASK]"); "" outside the table.
    std::string piece(std::int32_t id) const;

    std::int32_t num_pieces() const;       ///< of the sentencepiece model, specials not counted
    std::int32_t vocabulary_size() const;  ///< num_pieces + specials
    /// Of the longest piece: n ids say at most n times as many bytes, so a long text is known to be too long
    /// without encoding it.
    std::size_t max_piece_bytes() const;
    const SpecialTokens& special_tokens() const;

    /// A decoder for one stream of generated ids.
    std::unique_ptr<TextDecoder> make_stream_decoder() const;

  private:
    struct Impl;
    explicit Tokenizer(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace glmchat
