#include "engine/tokenizer/model_proto.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/tokenizer/utf8.h"

namespace glmchat {
namespace {

constexpr std::size_t kMaxModelBytes = 64 << 20;  // the published models have 1 MB
constexpr std::size_t kMaxPieces = 1'000'000;
constexpr std::size_t kMaxPieceBytes = 4096;
constexpr std::uint64_t kModelTypeBpe = 2;

enum class WireType : std::uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

/// What a field is called in the file. A known number with another wire type is an unknown field to protobuf,
/// and so it is here.
struct FieldTag {
    std::uint32_t number = 0;
    WireType wire_type = WireType::kVarint;
    bool operator==(const FieldTag&) const = default;
};

// Fields of sentencepiece_model.proto.
namespace model_field {
constexpr FieldTag kPiece = {1, WireType::kBytes};
constexpr FieldTag kTrainerSpec = {2, WireType::kBytes};
constexpr FieldTag kNormalizerSpec = {3, WireType::kBytes};
constexpr FieldTag kDenormalizerSpec = {5, WireType::kBytes};
}  // namespace model_field
namespace piece_field {
constexpr FieldTag kText = {1, WireType::kBytes};
constexpr FieldTag kScore = {2, WireType::kFixed32};
constexpr FieldTag kType = {3, WireType::kVarint};
}  // namespace piece_field
namespace trainer_field {
constexpr FieldTag kModelType = {3, WireType::kVarint};
constexpr FieldTag kSpaceAsSuffix = {24, WireType::kVarint};
}  // namespace trainer_field
namespace normalizer_field {
constexpr FieldTag kPrecompiledCharsmap = {2, WireType::kBytes};
constexpr FieldTag kAddDummyPrefix = {3, WireType::kVarint};
constexpr FieldTag kRemoveExtraSpaces = {4, WireType::kVarint};
constexpr FieldTag kEscapeSpaces = {5, WireType::kVarint};
}  // namespace normalizer_field

/// One field of a protobuf message: a value (varint, fixed) or bytes.
struct Field {
    FieldTag tag;
    std::uint64_t value = 0;
    std::string_view bytes;
};

// How the model treats text around its pieces, with protobuf's defaults for what the file does not say.
struct NormalizerRules {
    bool has_charsmap = false;
    bool add_dummy_prefix = true;
    bool remove_extra_spaces = true;
    bool escape_spaces = true;
};
struct SplitRules {
    std::uint64_t model_type = 0;
    bool space_as_suffix = false;
    NormalizerRules normalizer;
    NormalizerRules denormalizer;
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
        field.tag = {static_cast<std::uint32_t>(*tag >> 3), static_cast<WireType>(*tag & 7)};
        switch (field.tag.wire_type) {
            case WireType::kVarint:
                return with_value(field, varint());
            case WireType::kFixed64:
                return with_value(field, fixed<std::uint64_t>());
            case WireType::kBytes:
                return with_bytes(field);
            case WireType::kFixed32:
                return with_value(field, fixed<std::uint32_t>());
        }
        return std::nullopt;
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
        if (field.tag == piece_field::kText) piece.text = field.bytes;
        if (field.tag == piece_field::kScore) {
            const auto score = std::bit_cast<float>(static_cast<std::uint32_t>(field.value));
            if (!std::isfinite(score)) return bad(fmt::format("piece {} has no finite score", index));
        }
        if (field.tag == piece_field::kType) {
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

// A field that is said twice counts as it is said last, as protobuf has it.
Checked read_trainer_spec(std::string_view message, SplitRules& rules) {
    return for_each_field(message, [&rules](const Field& field) -> Checked {
        if (field.tag == trainer_field::kModelType) rules.model_type = field.value;
        if (field.tag == trainer_field::kSpaceAsSuffix) rules.space_as_suffix = field.value != 0;
        return {};
    });
}

Checked read_normalizer_spec(std::string_view message, NormalizerRules& rules) {
    return for_each_field(message, [&rules](const Field& field) -> Checked {
        if (field.tag == normalizer_field::kPrecompiledCharsmap) rules.has_charsmap = !field.bytes.empty();
        if (field.tag == normalizer_field::kAddDummyPrefix) rules.add_dummy_prefix = field.value != 0;
        if (field.tag == normalizer_field::kRemoveExtraSpaces) rules.remove_extra_spaces = field.value != 0;
        if (field.tag == normalizer_field::kEscapeSpaces) rules.escape_spaces = field.value != 0;
        return {};
    });
}

/// Text is put together again by one set of rules, which a model that splits otherwise would not follow.
Checked check_rules(const SplitRules& rules) {
    const NormalizerRules& normalizer = rules.normalizer;
    if (rules.model_type == 0) return bad("it does not say how it splits text; it is probably incomplete");
    if (rules.model_type != kModelTypeBpe) return unsupported("it is not a BPE model");
    if (normalizer.has_charsmap || rules.denormalizer.has_charsmap) {
        return unsupported("it rewrites characters before splitting (a normaliser other than \"identity\")");
    }
    if (!normalizer.add_dummy_prefix || normalizer.remove_extra_spaces || !normalizer.escape_spaces ||
        rules.space_as_suffix) {
        return unsupported("it treats spaces otherwise than ChatGLM2 does");
    }
    return {};
}

/// `<unk>`, `<s>` and `</s>` are the first three ids, and the only ones that show nothing.
Checked check_reserved_pieces(const std::vector<ModelProtoPiece>& pieces) {
    using Type = ModelProtoPiece::Type;
    constexpr std::array kReserved = {Type::kUnknown, Type::kControl, Type::kControl};
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const Type type = pieces[i].type;
        const bool is_reserved = type == Type::kUnknown || type == Type::kControl;
        if (i < kReserved.size() ? type != kReserved[i] : is_reserved)
            return unsupported(fmt::format("piece {} is not of the kind that ChatGLM2 has there", i));
        // sentencepiece never joins characters to a reserved piece, but it looks up single ones in all
        // pieces.
        if (is_reserved && utf8_prefix(pieces[i].text).size == pieces[i].text.size())
            return bad(fmt::format("piece {} is a special token that could be typed as one character", i));
        if (type == Type::kUserDefined)
            return unsupported(fmt::format("piece {} is a special token that could be typed", i));
    }
    return {};
}

Checked check_byte_pieces(const std::vector<ModelProtoPiece>& pieces) {
    std::unordered_set<std::string_view> byte_texts;
    for (const ModelProtoPiece& piece : pieces) {
        if (piece.type == ModelProtoPiece::Type::kByte) byte_texts.insert(piece.text);
    }
    if (byte_texts.empty())
        return unsupported("it has no byte pieces, so some characters could not be written");
    for (int byte = 0; byte < 256; ++byte) {
        if (!byte_texts.contains(fmt::format("<0x{:02X}>", byte)))
            return bad(fmt::format("the byte piece <0x{:02X}> is missing", byte));
    }
    if (byte_texts.size() != 256) return bad("it has more than 256 byte pieces");
    return {};
}

Checked check_texts(const std::vector<ModelProtoPiece>& pieces) {
    std::unordered_set<std::string_view> texts;
    bool has_space = false;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (!texts.insert(pieces[i].text).second) return bad(fmt::format("piece {} appears twice", i));
        has_space |= pieces[i].text == kSpaceSymbol && pieces[i].type == ModelProtoPiece::Type::kNormal;
    }
    if (!has_space) return bad("it has no piece for a space");
    return {};
}

tl::expected<std::vector<ModelProtoPiece>, Finding> read_pieces(std::string_view model) {
    std::vector<ModelProtoPiece> pieces;
    SplitRules rules;
    const auto take_field = [&](const Field& field) -> Checked {
        if (field.tag == model_field::kTrainerSpec) return read_trainer_spec(field.bytes, rules);
        if (field.tag == model_field::kNormalizerSpec)
            return read_normalizer_spec(field.bytes, rules.normalizer);
        if (field.tag == model_field::kDenormalizerSpec)
            return read_normalizer_spec(field.bytes, rules.denormalizer);
        if (field.tag != model_field::kPiece) return {};
        if (pieces.size() == kMaxPieces) return bad(fmt::format("it has more than {} pieces", kMaxPieces));
        auto piece = read_piece(field.bytes, pieces.size());
        if (!piece) return tl::unexpected(piece.error());
        pieces.push_back(std::move(*piece));
        return {};
    };
    if (Checked read = for_each_field(model, take_field); !read) return tl::unexpected(read.error());
    if (pieces.empty()) return bad(kNotAModel);
    if (Checked checked = check_rules(rules); !checked) return tl::unexpected(checked.error());
    for (const auto check : {check_reserved_pieces, check_byte_pieces, check_texts}) {
        if (Checked checked = check(pieces); !checked) return tl::unexpected(checked.error());
    }
    return pieces;
}

}  // namespace

Result<std::vector<ModelProtoPiece>> read_model_proto(std::string_view model, std::string_view file_name) {
    if (model.size() > kMaxModelBytes) {
        return failure(
            StatusKind::kBadFile,
            fmt::format("{} is far too large for a tokenizer ({} MiB). Download the tokenizer file again.",
                        file_name, model.size() >> 20));
    }
    auto pieces = read_pieces(model);
    if (pieces) return std::move(*pieces);
    const bool is_damaged = pieces.error().kind == StatusKind::kBadFile;
    return failure(pieces.error().kind,
                   fmt::format("{} cannot be used: {}. {}", file_name, pieces.error().text,
                               is_damaged ? "Download the tokenizer file again."
                                          : "Use the tokenizer file that was published with the model."));
}

}  // namespace glmchat
