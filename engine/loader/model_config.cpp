#include "engine/loader/model_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/loader/foreign_format.h"
#include "engine/loader/json_text.h"
#include "engine/loader/message.h"
#include "engine/loader/model_family.h"

namespace glmchat {
namespace {

using nlohmann::json;

constexpr std::size_t kMostConfigBytes = std::size_t{1} << 20U;  // real ones have about 1 KB
constexpr std::string_view kUseOfficial = "take config.json from the official model";
constexpr std::string_view kNotImplemented = "choose a model with the official ChatGLM2-6B settings";

/// A number of the model's shape. The upper ends are far above any real model and low enough that no product
/// of two of them with an element size overflows 64 bits.
struct Extent {
    const char* key;
    std::int32_t ModelConfig::*field;
    std::int32_t least;
    std::int32_t most;
    std::optional<std::int32_t>
        missing;  ///< value when the key is missing or null; nullopt: it must be there
};

constexpr std::array kExtents{
    Extent{"num_layers", &ModelConfig::num_layers, 1, 1 << 10, {}},
    Extent{"hidden_size", &ModelConfig::hidden_size, 1, 1 << 17, {}},
    Extent{"ffn_hidden_size", &ModelConfig::ffn_hidden_size, 1, 1 << 20, {}},
    Extent{"num_attention_heads", &ModelConfig::num_attention_heads, 1, 1 << 10, {}},
    Extent{"multi_query_group_num", &ModelConfig::multi_query_group_num, 1, 1 << 10, {}},
    Extent{"kv_channels", &ModelConfig::kv_channels, 4, 1 << 10, {}},
    Extent{"padded_vocab_size", &ModelConfig::padded_vocab_size, 1, 1 << 22, {}},
    Extent{"seq_length", &ModelConfig::seq_length, 1, 1 << 22, {}},
    Extent{"quantization_bit", &ModelConfig::quantization_bit, 0, 8, 0},
    Extent{"pre_seq_len", &ModelConfig::pre_seq_len, 0, 1 << 16, 0},
    Extent{"eos_token_id", &ModelConfig::eos_token_id, 0, (1 << 22) - 1, 2},
};

/// A switch of the official code of which the forward pass implements one position. `missing` is what that
/// code assumes.
struct RequiredFlag {
    const char* key;
    bool required;
    bool missing;
};

constexpr std::array kRequiredFlags{
    RequiredFlag{"rmsnorm", true, true},
    RequiredFlag{"post_layer_norm", true, true},
    RequiredFlag{"add_bias_linear", false, false},
    RequiredFlag{"apply_residual_connection_post_layernorm", false, false},
    RequiredFlag{"fp32_residual_connection", false, false},
    // Without it the official code lays q, k and v out head by head, another order of the fused rows.
    RequiredFlag{"multi_query_attention", true, false},
    RequiredFlag{"interleaved_qkv", false, false},
    RequiredFlag{"original_rope", true, true},
    RequiredFlag{"tie_word_embeddings", false, false},
    RequiredFlag{"is_encoder_decoder", false, false},
};

constexpr std::array<std::pair<std::string_view, DataType>, 3> kStoredTypes{
    {{"float16", DataType::kFloat16}, {"bfloat16", DataType::kBFloat16}, {"float32", DataType::kFloat32}}};

/// Reads values of one config.json; every refusal names the key.
class ConfigReader {
  public:
    ConfigReader(const json& config, std::string_view file_name) : config_(config), file_name_(file_name) {}

    Result<std::int32_t> extent(const Extent& extent) const {
        const json* value = find(extent.key);
        if (value == nullptr) {
            if (extent.missing) return *extent.missing;
            return bad_file(file_name_, fmt::format("{} is missing", extent.key), kUseOfficial);
        }
        const bool whole = value->is_number_integer();
        if (!whole || *value < extent.least || *value > extent.most) {
            return bad_file(file_name_,
                            fmt::format("{} is {}, not a whole number from {} to {}", extent.key,
                                        shown(*value), extent.least, extent.most),
                            kUseOfficial);
        }
        return value->get<std::int32_t>();
    }

    Result<bool> flag(const char* key, bool missing) const {
        const json* value = find(key);
        if (value == nullptr) return missing;
        if (!value->is_boolean()) {
            return bad_file(file_name_, fmt::format("{} is {}, not true or false", key, shown(*value)),
                            kUseOfficial);
        }
        return value->get<bool>();
    }

    /// A finite number with least < number <= most.
    Result<float> number(const char* key, double least, double most, float missing) const {
        const json* value = find(key);
        if (value == nullptr) return missing;
        if (!value->is_number() || !(value->get<double>() > least) || !(value->get<double>() <= most)) {
            return bad_file(
                file_name_,
                fmt::format("{} is {}, not a number above {} and up to {}", key, shown(*value), least, most),
                kUseOfficial);
        }
        return value->get<float>();
    }

    Result<std::string> text(const char* key, std::string missing) const {
        const json* value = find(key);
        if (value == nullptr) return missing;
        if (!value->is_string()) {
            return bad_file(file_name_, fmt::format("{} is {}, not a text", key, shown(*value)),
                            kUseOfficial);
        }
        return value->get<std::string>();
    }

    tl::unexpected<Status> not_implemented(std::string_view finding) const {
        return refuse_file(StatusKind::kUnsupported, file_name_,
                           fmt::format("{}, which this version does not implement", finding),
                           kNotImplemented);
    }
    tl::unexpected<Status> impossible(std::string_view finding) const {
        return bad_file(file_name_, finding, kUseOfficial);
    }

    bool has(const char* key) const { return find(key) != nullptr; }

  private:
    /// Null for a missing key and for JSON null, which the official code writes for "not set".
    const json* find(const char* key) const {
        const auto value = config_.find(key);
        return value == config_.end() || value->is_null() ? nullptr : &*value;
    }
    static std::string shown(const json& value) {
        return value.is_structured() ? value.type_name()
                                     : printable(value.dump(-1, ' ', false, json::error_handler_t::replace));
    }

    const json& config_;
    std::string_view file_name_;
};

Result<void> read_extents(const ConfigReader& reader, ModelConfig& config) {
    for (const Extent& extent : kExtents) {
        const auto value = reader.extent(extent);
        if (!value) return tl::unexpected(value.error());
        config.*extent.field = *value;
    }
    return {};
}

Result<void> check_required_flags(const ConfigReader& reader) {
    for (const RequiredFlag& flag : kRequiredFlags) {
        const auto value = reader.flag(flag.key, flag.missing);
        if (!value) return tl::unexpected(value.error());
        if (*value != flag.required) return reader.not_implemented(fmt::format("{} is {}", flag.key, *value));
    }
    if (reader.has("rope_scaling")) return reader.not_implemented("rope_scaling is set");
    return {};
}

Result<void> check_relations(const ConfigReader& reader, const ModelConfig& config) {
    if (config.num_attention_heads % config.multi_query_group_num != 0) {
        return reader.impossible(
            fmt::format("num_attention_heads ({}) is no multiple of multi_query_group_num ({})",
                        config.num_attention_heads, config.multi_query_group_num));
    }
    if (config.kv_channels % 4 != 0) {  // the first half of a head is rotated in pairs
        return reader.impossible(fmt::format("kv_channels ({}) is no multiple of 4", config.kv_channels));
    }
    if (config.eos_token_id >= config.padded_vocab_size) {
        return reader.impossible(fmt::format("eos_token_id ({}) lies outside the vocabulary of {}",
                                             config.eos_token_id, config.padded_vocab_size));
    }
    const std::int32_t bits = config.quantization_bit;
    if (bits != 0 && bits != 4 && bits != 8) {
        return reader.not_implemented(fmt::format("quantization_bit is {}", bits));
    }
    const bool odd_rows = config.hidden_size % 2 != 0 || config.ffn_hidden_size % 2 != 0;
    if (bits == 4 && odd_rows) {
        return reader.impossible("quantization_bit is 4, but hidden_size or ffn_hidden_size is odd");
    }
    return {};
}

/// Values that are neither extents nor required flags.
Result<void> read_remaining(const ConfigReader& reader, ModelConfig& config) {
    auto name = reader.text("_name_or_path", "model");
    if (!name) return tl::unexpected(std::move(name.error()));
    config.name = std::move(*name);

    const auto epsilon = reader.number("layernorm_epsilon", 0.0, 1.0, 1e-5F);
    if (!epsilon) return tl::unexpected(epsilon.error());
    config.layernorm_epsilon = *epsilon;
    if (config.layernorm_epsilon <= 0.0F) {
        return reader.impossible("layernorm_epsilon is too small for float32");
    }

    const auto rope_ratio = reader.number("rope_ratio", 0.0, 1e6, 1.0F);
    if (!rope_ratio) return tl::unexpected(rope_ratio.error());
    config.rotary_position_divisor = *rope_ratio;
    if (config.rotary_position_divisor < 1.0F) return reader.not_implemented("rope_ratio is below 1");

    const auto add_qkv_bias = reader.flag("add_qkv_bias", false);
    if (!add_qkv_bias) return tl::unexpected(add_qkv_bias.error());
    config.add_qkv_bias = *add_qkv_bias;

    const auto prefix_projection = reader.flag("prefix_projection", false);
    if (!prefix_projection) return tl::unexpected(prefix_projection.error());
    config.prefix_projection = *prefix_projection;

    const auto torch_dtype = reader.text("torch_dtype", "float16");
    if (!torch_dtype) return tl::unexpected(torch_dtype.error());
    const auto stored =
        std::ranges::find(kStoredTypes, *torch_dtype, &std::pair<std::string_view, DataType>::first);
    if (stored == kStoredTypes.end()) {
        return reader.not_implemented(fmt::format("torch_dtype is {}", in_quotes(*torch_dtype)));
    }
    config.torch_dtype = stored->second;
    return {};
}

}  // namespace

Result<ModelConfig> parse_model_config(std::string_view text, std::string_view file_name) {
    if (auto own = refuse_foreign_format(text, file_name); !own) {
        return tl::unexpected(std::move(own.error()));
    }
    const auto parsed = parse_json_object(text, file_name, kMostConfigBytes);
    if (!parsed) return tl::unexpected(parsed.error());
    const auto family = identify_family(*parsed, file_name);
    if (!family) return tl::unexpected(family.error());

    ModelConfig config;
    config.family = *family;
    const ConfigReader reader(*parsed, file_name);
    if (auto flags = check_required_flags(reader); !flags) return tl::unexpected(std::move(flags.error()));
    if (auto extents = read_extents(reader, config); !extents) {
        return tl::unexpected(std::move(extents.error()));
    }
    if (auto remaining = read_remaining(reader, config); !remaining) {
        return tl::unexpected(std::move(remaining.error()));
    }
    if (auto relations = check_relations(reader, config); !relations) {
        return tl::unexpected(std::move(relations.error()));
    }
    return config;
}

Result<ModelConfig> read_model_config(const std::filesystem::path& folder) {
    std::error_code unreadable;  // opening config.json says why
    if (!std::filesystem::exists(folder, unreadable)) {
        return refuse_file(StatusKind::kNotFound, display_name(folder), "there is no such folder",
                           "choose the model's folder");
    }
    const auto file = MappedFile::open(folder / "config.json");
    if (!file && file.error().kind == StatusKind::kNotFound) {
        return refuse_file(StatusKind::kNotFound, display_name(folder), "this folder has no config.json",
                           "choose a model folder in the official layout, or download config.json into it");
    }
    if (!file) return tl::unexpected(file.error());
    return parse_model_config((*file)->text(), "config.json");
}

}  // namespace glmchat
