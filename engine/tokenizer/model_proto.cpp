#include "engine/tokenizer/model_proto.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/tokenizer/utf8.h"

namespace glmchat {
namespace {

constexpr std::size_t kMaxPieces = 1'000'000;
constexpr std::size_t kMaxPieceBytes = 4096;
constexpr std::uint64_t kModelTypeBpe = 2;

// Field numbers of sentencepiece_model.proto.
namespace model_field {
constexpr std::uint32_t kPieces = 1;
constexpr std::uint32_t kTrainerSpec = 2;
constexpr std::uint32_t kNormalizerSpec = 3;
constexpr std::uint32_t kDenormalizerSpec = 5;
}  // namespace model_field
namespace piece_field {
constexpr std::uint32_t kPiece = 1;
constexpr std::uint32_t kScore = 2;
constexpr std::uint32_t kType = 3;
}  // namespace piece_field
namespace trainer_field {
constexpr std::uint32_t kModelType = 3;
}
namespace normalizer_field {
constexpr std::uint32_t kPrecompiledCharsmap = 2;
}

/// One field of a protobuf message: a number (varint, fixed) or bytes (length-delimited).
struct Field {
    std::uint32_t number = 0;
    std::uint64_t value = 0;
    std::string_view bytes;
};

/// Walks the fields of one message. Groups, which the format never uses, count as malformed.
class FieldReader {
  public:
    explicit FieldReader(std::string_view message) : rest_(message) {}

    bool at_end() const { return rest_.empty(); }

    /// @return none when the bytes are no field
    std::optional<Field> next() {
        const auto tag = varint();
        if (!tag || (*tag >> 3) == 0 || (*tag >> 3) > 0x1FFFFFFF) return std::nullopt;
        Field field;
        field.number = static_cast<std::uint32_t>(*tag >> 3);
        switch (*tag & 7) {
            case 0:
                return with_value(field, varint());
            case 1:
                return with_value(field, fixed<std::uint64_t>());
            case 2:
                return with_bytes(field);
            case 5:
                return with_value(field, fixed<std::uint32_t>());
            default:
                return std::nullopt;
        }
    }

  private:
    std::optional<std::uint64_t> varint() {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 64; shift += 7) {
            if (rest_.empty()) return std::nullopt;
            const auto byte = static_cast<unsigned char>(rest_.front());
            rest_.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
            if ((byte & 0x80) == 0) return value;
        }
        return std::nullopt;
    }

    template <typename T>
    std::optional<std::uint64_t> fixed() {
        if (rest_.size() < sizeof(T)) return std::nullopt;
        T value;
        std::memcpy(&value, rest_.data(), sizeof(T));
        rest_.remove_prefix(sizeof(T));
        return value;
    }

    static std::optional<Field> with_value(Field field, std::optional<std::uint64_t> value) {
        if (!value) return std::nullopt;
        field.value = *value;
        return field;
    }

    std::optional<Field> with_bytes(Field field) {
        const auto size = varint();
        if (!size || *size > rest_.size()) return std::nullopt;
        field.bytes = rest_.substr(0, static_cast<std::size_t>(*size));
        rest_.remove_prefix(static_cast<std::size_t>(*size));
        return field;
    }

    std::string_view rest_;
};

/// Why a model is refused; the caller adds the file name and the remedy.
struct Finding {
    StatusKind kind = StatusKind::kBadFile;
    std::string text;
};
using Checked = tl::expected<void, Finding>;

tl::unexpected<Finding> bad(std::string text) {
    return tl::unexpected(Finding{StatusKind::kBadFile, std::move(text)});
}
tl::unexpected<Finding> unsupported(std::string text) {
    return tl::unexpected(Finding{StatusKind::kUnsupported, std::move(text)});
}

const char* const kNotAModel = "it is not a sentencepiece model, or it is damaged";

/// Calls `take(field)` for every field of `message` until one is refused.
template <typename Take>
Checked for_each_field(std::string_view message, Take take) {
    for (FieldReader reader(message); !reader.at_end();) {
        const auto field = reader.next();
        if (!field) return bad(kNotAModel);
        if (Checked taken = take(*field); !taken) return taken;
    }
    return {};
}

tl::expected<ModelProtoPiece, Finding> read_piece(std::string_view message, std::size_t index) {
    ModelProtoPiece piece;
    Checked read = for_each_field(message, [&](const Field& field) -> Checked {
        if (field.number == piece_field::kPiece) piece.text = field.bytes;
        if (field.number == piece_field::kScore) {
            const auto score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
            if (!std::isfinite(score)) return bad(fmt::format("piece {} has no finite score", index));
        }
        if (field.number == piece_field::kType) {
            if (field.value < 1 || field.value > 6)
                return bad(fmt::format("piece {} has an unknown type", index));
            piece.type = static_cast<ModelProtoPiece::Type>(field.value);
        }
        return {};
    });
    if (!read) return tl::unexpected(read.error());
    if (piece.text.empty()) return bad(fmt::format("piece {} is empty", index));
    if (piece.text.size() > kMaxPieceBytes)
        return bad(fmt::format("piece {} is {} bytes long", index, piece.text.size()));
    if (to_valid_utf8(piece.text) != piece.text)
        return bad(fmt::format("piece {} is not valid UTF-8", index));
    return piece;
}

/// The model's kind; the last one wins when it is said twice, as protobuf has it.
Checked read_trainer_spec(std::string_view message, std::uint64_t& model_type) {
    return for_each_field(message, [&model_type](const Field& field) -> Checked {
        if (field.number == trainer_field::kModelType) model_type = field.value;
        return {};
    });
}

Checked check_normalizer_spec(std::string_view message) {
    return for_each_field(message, [](const Field& field) -> Checked {
        if (field.number == normalizer_field::kPrecompiledCharsmap && !field.bytes.empty()) {
            return unsupported(
                "it rewrites characters before splitting (a normaliser other than \"identity\")");
        }
        return {};
    });
}

Checked check_vocabulary(const std::vector<ModelProtoPiece>& pieces) {
    using Type = ModelProtoPiece::Type;
    std::unordered_set<std::string_view> texts;
    std::unordered_set<std::string_view> byte_texts;
    std::size_t num_unknown = 0;
    for (const ModelProtoPiece& piece : pieces) {
        if (!texts.insert(piece.text).second)
            return bad(fmt::format("the piece \"{}\" appears twice", piece.text));
        if (piece.type == Type::kUnknown) ++num_unknown;
        if (piece.type == Type::kByte) byte_texts.insert(piece.text);
    }
    if (num_unknown != 1) return bad(fmt::format("it has {} unknown pieces instead of one", num_unknown));
    if (byte_texts.empty())
        return unsupported("it has no byte pieces, so some characters could not be written");
    for (int byte = 0; byte < 256; ++byte) {
        if (!byte_texts.contains(fmt::format("<0x{:02X}>", byte))) {
            return bad(fmt::format("the byte piece <0x{:02X}> is missing", byte));
        }
    }
    if (byte_texts.size() != 256) return bad("it has more than 256 byte pieces");
    return {};
}

tl::expected<std::vector<ModelProtoPiece>, Finding> read_pieces(std::string_view model) {
    std::vector<ModelProtoPiece> pieces;
    std::uint64_t model_type = 0;
    Checked read = for_each_field(model, [&](const Field& field) -> Checked {
        switch (field.number) {
            case model_field::kPieces: {
                if (pieces.size() == kMaxPieces)
                    return bad(fmt::format("it has more than {} pieces", kMaxPieces));
                auto piece = read_piece(field.bytes, pieces.size());
                if (!piece) return tl::unexpected(piece.error());
                pieces.push_back(std::move(*piece));
                return {};
            }
            case model_field::kTrainerSpec:
                return read_trainer_spec(field.bytes, model_type);
            case model_field::kNormalizerSpec:
            case model_field::kDenormalizerSpec:
                return check_normalizer_spec(field.bytes);
            default:
                return {};
        }
    });
    if (!read) return tl::unexpected(read.error());
    if (pieces.empty()) return bad(kNotAModel);
    // Other kinds would split text in another way than the model was trained on.
    if (model_type != kModelTypeBpe) return unsupported("it is not a BPE model");
    if (Checked checked = check_vocabulary(pieces); !checked) return tl::unexpected(checked.error());
    return pieces;
}

}  // namespace

Result<std::vector<ModelProtoPiece>> read_model_proto(std::string_view model, std::string_view file_name) {
    auto pieces = read_pieces(model);
    if (pieces) return std::move(*pieces);
    const bool is_damaged = pieces.error().kind == StatusKind::kBadFile;
    return failure(pieces.error().kind,
                   fmt::format("{} cannot be used: {}. {}", file_name, pieces.error().text,
                               is_damaged ? "Download the tokenizer file again."
                                          : "Use the tokenizer file that was published with the model."));
}

}  // namespace glmchat
