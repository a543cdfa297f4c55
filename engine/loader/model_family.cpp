#include "engine/loader/model_family.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "engine/loader/message.h"

// How the models are told apart. All of them say model_type "chatglm", and ChatGLM2 and ChatGLM3 have the
// same shapes and the same keys, so:
// 1. ChatGLM-6B (v1) has keys of its own (position_encoding_2d, inner_hidden_size).
// 2. `_name_or_path` decides when it contains a model's name. save_pretrained overwrites it with the path
//    the weights came from, so after fine-tuning it may be missing or say nothing.
// 3. Then the numbers decide: a vocabulary of 151552 or several end ids mean GLM-4; a seq_length of 8192
//    (6B) or 16384 (32k) with the 65024 vocabulary means ChatGLM3 (ChatGLM2 has 32768, also its 32k variant).
// 4. What is left is ChatGLM2, unless it has a rope_ratio: ChatGLM2-32k divides positions by it,
//    ChatGLM3-32k multiplies the base, so without a name the two cannot be told apart and a wrong guess
//    gives fluent nonsense.

namespace glmchat {
namespace {

using nlohmann::json;

constexpr std::string_view kUseChatGlm2 = "choose a ChatGLM2-6B folder";

struct KnownName {
    std::string_view part;  ///< of `_name_or_path`, lower case
    std::string_view model;
    bool supported;
};

constexpr std::array<KnownName, 7> kKnownNames{{{"chatglm2", "ChatGLM2", true},
                                                {"chatglm3", "ChatGLM3", false},
                                                {"codegeex", "CodeGeeX", false},
                                                {"glm-4-9b", "GLM-4", false},
                                                {"glm4-9b", "GLM-4", false},
                                                {"visualglm", "VisualGLM", false},
                                                {"chatglm-6b", "ChatGLM-6B (the first version)", false}}};

std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return text;
}

std::string string_or_empty(const json& config, const char* key) {
    const auto value = config.find(key);
    return value != config.end() && value->is_string() ? value->get<std::string>() : std::string();
}

bool equals(const json& config, const char* key, std::int64_t number) {
    const auto value = config.find(key);
    return value != config.end() && value->is_number_integer() && *value == number;
}

tl::unexpected<Status> not_supported(std::string_view file_name, std::string_view model) {
    return refuse_file(StatusKind::kUnsupported, file_name,
                       fmt::format("this is {}, which this version does not support yet", model),
                       kUseChatGlm2);
}

const KnownName* name_in(std::string_view path) {
    const auto known = std::ranges::find_if(
        kKnownNames, [&](const KnownName& name) { return path.find(name.part) != path.npos; });
    return known == kKnownNames.end() ? nullptr : &*known;
}

/// Rules 3 and 4.
Result<ModelFamily> identify_by_numbers(const json& config, std::string_view file_name) {
    const auto eos = config.find("eos_token_id");
    if (equals(config, "padded_vocab_size", 151552) || (eos != config.end() && eos->is_array())) {
        return not_supported(file_name, "GLM-4");
    }
    const bool real_vocabulary = equals(config, "padded_vocab_size", 65024);
    if (real_vocabulary && (equals(config, "seq_length", 8192) || equals(config, "seq_length", 16384))) {
        return refuse_file(
            StatusKind::kUnsupported, file_name,
            "its seq_length is that of ChatGLM3 or CodeGeeX2, which this version does not support yet",
            R"(if it is ChatGLM2 all the same, set "_name_or_path" to "THUDM/chatglm2-6b")");
    }
    if (!config.contains("rope_ratio") || equals(config, "rope_ratio", 1)) return ModelFamily::kChatGlm2;
    return refuse_file(StatusKind::kUnsupported, file_name,
                       "it has a rope_ratio, but _name_or_path does not say whether this is ChatGLM2-6B-32k "
                       "or ChatGLM3-6B-32k",
                       R"(if it is the former, set "_name_or_path" to "THUDM/chatglm2-6b-32k")");
}

}  // namespace

Result<ModelFamily> identify_family(const json& config, std::string_view file_name) {
    const std::string model_type = string_or_empty(config, "model_type");
    if (model_type != "chatglm") {
        return refuse_file(StatusKind::kUnsupported, file_name,
                           fmt::format("its model_type is {}, not \"chatglm\"",
                                       model_type.empty() ? "missing" : in_quotes(model_type)),
                           kUseChatGlm2);
    }
    if (config.contains("position_encoding_2d") || config.contains("inner_hidden_size")) {
        return not_supported(file_name, "ChatGLM-6B (the first version)");
    }
    const KnownName* known = name_in(lower_case(string_or_empty(config, "_name_or_path")));
    if (known == nullptr) return identify_by_numbers(config, file_name);
    if (!known->supported) return not_supported(file_name, known->model);
    return ModelFamily::kChatGlm2;
}

}  // namespace glmchat
