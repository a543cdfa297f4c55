#include "engine/tokenizer/tokenizer.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/format.h>
#include <sentencepiece_processor.h>

#include "engine/loader/checkpoint.h"
#include "engine/tokenizer/model_proto.h"
#include "engine/tokenizer/piece_table.h"
#include "engine/tokenizer/utf8.h"

namespace glmchat {
namespace {

constexpr const char* kFileName = "tokenizer.model";
constexpr std::string_view kLfsPointer = "version https://git-lfs";

/// The GLM-4 tokenizer has the same file name and holds lines "base64 rank".
bool looks_like_tiktoken(std::string_view bytes) {
    const std::string_view line = bytes.substr(0, std::min(bytes.find('\n'), std::size_t{512}));
    const auto space = line.find(' ');
    if (space == std::string_view::npos || space == 0 || space + 1 == line.size()) return false;
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    const auto is_base64 = [is_digit](char c) {
        return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '+' || c == '/' ||
               c == '=';
    };
    return std::all_of(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(space), is_base64) &&
           std::all_of(line.begin() + static_cast<std::ptrdiff_t>(space) + 1, line.end(), is_digit);
}

Result<void> check_kind_of_file(std::string_view bytes, std::string_view file_name) {
    if (bytes.starts_with(kLfsPointer)) {
        return failure(
            StatusKind::kBadFile,
            fmt::format(
                "{} is a Git-LFS pointer, not the tokenizer itself. Download the real file (about 1 MB) "
                "and put it in its place.",
                file_name));
    }
    if (looks_like_tiktoken(bytes)) {
        return failure(
            StatusKind::kUnsupported,
            fmt::format(
                "{} is a tiktoken vocabulary as GLM-4 has it, not a sentencepiece model. This version of "
                "glmchat reads ChatGLM2 folders.",
                file_name));
    }
    return {};
}

class StreamDecoder final : public TextDecoder {
  public:
    explicit StreamDecoder(std::shared_ptr<const PieceTable> table)
        : table_(std::move(table)), joiner_(*table_) {}
    std::string push(std::int32_t token_id) override { return joiner_.push(token_id); }
    std::string finish() override { return joiner_.finish(); }

  private:
    const std::shared_ptr<const PieceTable> table_;
    PieceJoiner joiner_;
};

}  // namespace

struct Tokenizer::Impl {
    sentencepiece::SentencePieceProcessor processor;
    std::shared_ptr<const PieceTable> table;
};

Tokenizer::Tokenizer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Tokenizer::~Tokenizer() = default;

Result<std::shared_ptr<const Tokenizer>> Tokenizer::open_folder(const std::filesystem::path& folder) {
    auto file = MappedFile::open(folder / kFileName);
    if (!file) return tl::unexpected(file.error());
    return from_bytes((*file)->text(), kFileName);
}

Result<std::shared_ptr<const Tokenizer>> Tokenizer::from_bytes(std::string_view model,
                                                               std::string_view file_name) {
    if (auto checked = check_kind_of_file(model, file_name); !checked) return tl::unexpected(checked.error());
    auto pieces = read_model_proto(model, file_name);
    if (!pieces) return tl::unexpected(pieces.error());

    auto impl = std::make_unique<Impl>();
    impl->table = std::make_shared<const PieceTable>(*pieces);
    const auto refused = [file_name](std::string detail) {
        return failure(
            StatusKind::kBadFile,
            fmt::format("{} cannot be read as a sentencepiece model. Download the tokenizer file again.",
                        file_name),
            std::move(detail));
    };
    try {
        const auto status = impl->processor.LoadFromSerializedProto(model);
        if (!status.ok()) return refused(status.ToString());
    } catch (const std::exception& error) {
        return refused(error.what());
    }
    return std::shared_ptr<const Tokenizer>(new Tokenizer(std::move(impl)));
}

std::vector<std::int32_t> Tokenizer::encode(std::string_view text) const {
    std::vector<int> ids;
    // The text is valid UTF-8 and the model was accepted: what can still fail is memory, which throws.
    impl_->processor.Encode(to_valid_utf8(text), &ids).IgnoreError();
    return {ids.begin(), ids.end()};
}

std::string Tokenizer::decode(std::span<const std::int32_t> ids) const {
    PieceJoiner joiner(*impl_->table);
    std::string text;
    for (const std::int32_t id : ids) text += joiner.push(id);
    return text + joiner.finish();
}

std::string Tokenizer::decode_bytes(std::span<const std::int32_t> ids) const {
    std::string bytes;
    PieceJoiner joiner(*impl_->table);
    for (const std::int32_t id : ids) {
        // A byte shows as itself; the joiner only needs to know that something visible came before the next
        // piece.
        if (impl_->table->kind(id) == PieceTable::Kind::kByte) {
            bytes += impl_->table->byte(id);
            joiner.mark_visible();
        } else {
            bytes += joiner.push(id);
        }
    }
    return bytes;
}

std::string Tokenizer::piece(std::int32_t id) const {
    return std::string(impl_->table->text(id));
}
std::int32_t Tokenizer::num_pieces() const {
    return impl_->table->num_pieces();
}
std::int32_t Tokenizer::vocabulary_size() const {
    return impl_->table->size();
}
std::size_t Tokenizer::max_piece_bytes() const {
    return impl_->table->max_piece_bytes();
}
const SpecialTokens& Tokenizer::special_tokens() const {
    return impl_->table->special_tokens();
}

std::unique_ptr<TextDecoder> Tokenizer::make_stream_decoder() const {
    return std::make_unique<StreamDecoder>(impl_->table);
}

}  // namespace glmchat
