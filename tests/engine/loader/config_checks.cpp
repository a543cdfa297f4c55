#include "tests/engine/loader/all_checks.h"
#include "tests/engine/loader/loader_test_support.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/loader/model_config.h"

namespace glmchat::test {
namespace {

using nlohmann::json;
using enum StatusKind;

/// The shape of ChatGLM2-6B, with the keys of its config.json that matter.
const json& chatglm2() {
    static const json config = json::parse(R"({
        "_name_or_path": "THUDM/chatglm2-6b", "model_type": "chatglm", "add_bias_linear": false, "add_qkv_bias": true,
        "apply_query_key_layer_scaling": true, "apply_residual_connection_post_layernorm": false,
        "attention_softmax_in_fp32": true, "ffn_hidden_size": 13696, "fp32_residual_connection": false, "hidden_size": 4096,
        "kv_channels": 128, "layernorm_epsilon": 1e-05, "multi_query_attention": true, "multi_query_group_num": 2,
        "num_attention_heads": 32, "num_layers": 28, "original_rope": true, "padded_vocab_size": 65024,
        "post_layer_norm": true, "rmsnorm": true, "seq_length": 32768, "torch_dtype": "float16",
        "tie_word_embeddings": false, "eos_token_id": 2, "pad_token_id": 0})");
    return config;
}

/// chatglm2() with keys replaced, or removed by null (RFC 7396).
std::string changed(const char* patch) {
    json config = chatglm2();
    config.merge_patch(json::parse(patch));
    return config.dump();
}

std::string summary(const ModelConfig& c) {
    return fmt::format("{} {} {} {}/{}x{} v{} s{} e{:g} b{:d} {} q{} p{}{} r{:g}/{:g} eos{}", c.name,
                       c.num_layers, c.hidden_size, c.num_attention_heads, c.multi_query_group_num,
                       c.kv_channels, c.padded_vocab_size, c.seq_length, c.layernorm_epsilon,
                       static_cast<int>(c.add_qkv_bias), data_type_name(c.torch_dtype), c.quantization_bit,
                       c.pre_seq_len, c.prefix_projection ? "+" : "", c.rotary_base,
                       c.rotary_position_divisor, c.eos_token_id);
}

struct Accepted {
    const char* name;
    const char* patch;
    const char* summary;
};

constexpr Accepted kAccepted[] = {
    {"official", "{}",
     "THUDM/chatglm2-6b 28 4096 32/2x128 v65024 s32768 e1e-05 b1 float16 q0 p0 r10000/1 eos2"},
    {"int4", R"({"quantization_bit":4})",
     "THUDM/chatglm2-6b 28 4096 32/2x128 v65024 s32768 e1e-05 b1 float16 q4 p0 r10000/1 eos2"},
    {"int8", R"({"quantization_bit":8})",
     "THUDM/chatglm2-6b 28 4096 32/2x128 v65024 s32768 e1e-05 b1 float16 q8 p0 r10000/1 eos2"},
    {"ptuning", R"({"pre_seq_len":128,"prefix_projection":true})",
     "THUDM/chatglm2-6b 28 4096 32/2x128 v65024 s32768 e1e-05 b1 float16 q0 p128+ r10000/1 eos2"},
    {"32k", R"({"_name_or_path":"THUDM/chatglm2-6b-32k","rope_ratio":16})",
     "THUDM/chatglm2-6b-32k 28 4096 32/2x128 v65024 s32768 e1e-05 b1 float16 q0 p0 r10000/16 eos2"},
    {"32k_local_path", R"({"_name_or_path":"D:\\模型\\ChatGLM2-6B-32k","rope_ratio":2.5})",
     "D:\\模型\\ChatGLM2-6B-32k 28 4096 32/2x128 v65024 s32768 e1e-05 b1 float16 q0 p0 r10000/2.5 eos2"},
    {"bfloat16", R"({"torch_dtype":"bfloat16"})",
     "THUDM/chatglm2-6b 28 4096 32/2x128 v65024 s32768 e1e-05 b1 bfloat16 q0 p0 r10000/1 eos2"},
    {"no_name", R"({"_name_or_path":null})",
     "model 28 4096 32/2x128 v65024 s32768 e1e-05 b1 float16 q0 p0 r10000/1 eos2"},
    {"name_says_nothing", R"({"_name_or_path":"output/checkpoint-3000","rope_ratio":1})",
     "output/checkpoint-3000 28 4096 32/2x128 v65024 s32768 e1e-05 b1 float16 q0 p0 r10000/1 eos2"},
    {"name_with_other_seq_length", R"({"seq_length":8192})",
     "THUDM/chatglm2-6b 28 4096 32/2x128 v65024 s8192 e1e-05 b1 float16 q0 p0 r10000/1 eos2"},
    {"defaults",
     R"({"rmsnorm":null,"post_layer_norm":null,"add_bias_linear":null,"torch_dtype":null,"eos_token_id":null,"layernorm_epsilon":null,"add_qkv_bias":null})",
     "THUDM/chatglm2-6b 28 4096 32/2x128 v65024 s32768 e1e-05 b0 float16 q0 p0 r10000/1 eos2"},
};

struct Refused {
    const char* name;
    const char* patch;
    StatusKind kind;
    const char* finding;
};

constexpr Refused kRefused[] = {
    // Values the forward pass does not implement, each by its name.
    {"rmsnorm", R"({"rmsnorm":false})", kUnsupported, "rmsnorm is false"},
    {"post_layer_norm", R"({"post_layer_norm":false})", kUnsupported, "post_layer_norm is false"},
    {"add_bias_linear", R"({"add_bias_linear":true})", kUnsupported, "add_bias_linear is true"},
    {"residual_post_layernorm", R"({"apply_residual_connection_post_layernorm":true})", kUnsupported,
     "apply_residual_connection_post_layernorm is true"},
    {"fp32_residual", R"({"fp32_residual_connection":true})", kUnsupported,
     "fp32_residual_connection is true"},
    {"multi_query_attention", R"({"multi_query_attention":false})", kUnsupported,
     "multi_query_attention is false"},
    {"multi_query_attention_missing", R"({"multi_query_attention":null})", kUnsupported,
     "multi_query_attention is false"},
    {"original_rope", R"({"original_rope":false})", kUnsupported, "original_rope is false"},
    {"interleaved_qkv", R"({"interleaved_qkv":true})", kUnsupported, "interleaved_qkv is true"},
    {"tied", R"({"tie_word_embeddings":true})", kUnsupported, "tie_word_embeddings is true"},
    {"rope_scaling", R"({"rope_scaling":{"type":"linear","factor":2}})", kUnsupported, "rope_scaling is set"},
    {"rope_ratio_below_1", R"({"rope_ratio":0.5})", kUnsupported, "rope_ratio is below 1"},
    {"quantization_bit_5", R"({"quantization_bit":5})", kUnsupported, "quantization_bit is 5"},
    {"torch_dtype", R"({"torch_dtype":"float8"})", kUnsupported, "torch_dtype is \"float8\""},
    // Other models.
    {"model_type_llama", R"({"model_type":"llama"})", kUnsupported, "its model_type is \"llama\""},
    {"model_type_missing", R"({"model_type":null})", kUnsupported, "its model_type is missing"},
    {"model_type_number", R"({"model_type":5})", kUnsupported, "its model_type is missing"},
    {"chatglm1", R"({"_name_or_path":"THUDM/chatglm-6b","position_encoding_2d":true})", kUnsupported,
     "this is ChatGLM-6B (the first version)"},
    {"chatglm1_nameless", R"({"_name_or_path":null,"inner_hidden_size":16384})", kUnsupported,
     "this is ChatGLM-6B (the first version)"},
    {"chatglm3", R"({"_name_or_path":"THUDM/chatglm3-6b"})", kUnsupported, "this is ChatGLM3"},
    {"chatglm3_local_path", R"({"_name_or_path":"/home/me/ChatGLM3-6B/"})", kUnsupported, "this is ChatGLM3"},
    {"chatglm3_nameless", R"({"_name_or_path":null,"seq_length":8192})", kUnsupported,
     "seq_length is that of ChatGLM3"},
    {"chatglm3_32k_nameless", R"({"_name_or_path":null,"seq_length":16384,"rope_ratio":50})", kUnsupported,
     "seq_length is that of ChatGLM3"},
    {"32k_ambiguous", R"({"_name_or_path":"out","rope_ratio":50})", kUnsupported,
     "whether this is ChatGLM2-6B-32k or ChatGLM3-6B-32k"},
    {"glm4", R"({"_name_or_path":"THUDM/glm-4-9b-chat"})", kUnsupported, "this is GLM-4"},
    {"glm4_nameless", R"({"_name_or_path":null,"padded_vocab_size":151552})", kUnsupported, "this is GLM-4"},
    {"glm4_nameless_ends", R"({"_name_or_path":null,"eos_token_id":[151329,151336]})", kUnsupported,
     "this is GLM-4"},
    {"codegeex2", R"({"_name_or_path":"THUDM/codegeex2-6b"})", kUnsupported, "this is CodeGeeX"},
    // Impossible numbers.
    {"layers_missing", R"({"num_layers":null})", kBadFile, "num_layers is missing"},
    {"layers_zero", R"({"num_layers":0})", kBadFile, "num_layers is 0"},
    {"layers_negative", R"({"num_layers":-1})", kBadFile, "num_layers is -1"},
    {"hidden_huge", R"({"hidden_size":2147483647})", kBadFile, "hidden_size is 2147483647"},
    {"ffn_64_bits", R"({"ffn_hidden_size":18446744073709551615})", kBadFile,
     "ffn_hidden_size is 18446744073709551615"},
    {"vocabulary_beyond_64_bits", R"({"padded_vocab_size":18446744073709551617})", kBadFile,
     "padded_vocab_size is"},
    {"seq_length_huge", R"({"seq_length":1000000000})", kBadFile, "seq_length is 1000000000"},
    {"heads_fraction", R"({"num_attention_heads":32.5})", kBadFile, "num_attention_heads is 32.5"},
    {"heads_text", R"({"num_attention_heads":"32"})", kBadFile, "num_attention_heads is \"32\""},
    {"heads_list", R"({"num_attention_heads":[32]})", kBadFile, "num_attention_heads is array"},
    {"heads_bool", R"({"num_attention_heads":true})", kBadFile, "num_attention_heads is true"},
    {"groups_do_not_divide", R"({"multi_query_group_num":3})", kBadFile,
     "num_attention_heads (32) is no multiple of multi_query_group_num (3)"},
    {"groups_above_heads", R"({"multi_query_group_num":64})", kBadFile,
     "is no multiple of multi_query_group_num (64)"},
    {"kv_channels_odd", R"({"kv_channels":127})", kBadFile, "kv_channels (127) is no multiple of 4"},
    {"kv_channels_half_odd", R"({"kv_channels":126})", kBadFile, "kv_channels (126) is no multiple of 4"},
    {"eos_outside", R"({"eos_token_id":65024})", kBadFile, "eos_token_id (65024) lies outside"},
    {"eos_list", R"({"eos_token_id":[2,3]})", kBadFile, "eos_token_id is array"},
    {"int4_odd_rows", R"({"quantization_bit":4,"ffn_hidden_size":13695})", kBadFile,
     "ffn_hidden_size is odd"},
    {"prefix_negative", R"({"pre_seq_len":-1})", kBadFile, "pre_seq_len is -1"},
    {"prefix_projection_text", R"({"prefix_projection":"yes"})", kBadFile, "prefix_projection is \"yes\""},
    {"rmsnorm_number", R"({"rmsnorm":1})", kBadFile, "rmsnorm is 1"},
    {"epsilon_zero", R"({"layernorm_epsilon":0})", kBadFile, "layernorm_epsilon is 0"},
    {"epsilon_negative", R"({"layernorm_epsilon":-1e-5})", kBadFile, "layernorm_epsilon is -1e-05"},
    {"epsilon_below_float", R"({"layernorm_epsilon":1e-300})", kBadFile, "layernorm_epsilon is too small"},
    {"epsilon_text", R"({"layernorm_epsilon":"1e-5"})", kBadFile, "layernorm_epsilon is \"1e-5\""},
    {"rope_ratio_huge", R"({"rope_ratio":1e300})", kBadFile, "rope_ratio is 1e+300"},
    {"name_number", R"({"_name_or_path":7})", kBadFile, "_name_or_path is 7"},
};

struct BadText {
    const char* name;
    std::string text;
    const char* finding;
};

std::string nested_objects(std::size_t depth) {
    std::string text;
    for (std::size_t i = 0; i < depth; ++i) text += R"({"a":)";
    return text + "1" + std::string(depth, '}');
}

std::vector<BadText> bad_texts() {
    return {
        {"empty", "", "the file is empty"},
        {"pointer", "version https://git-lfs.github.com/spec/v1\n", "Git-LFS pointer"},
        {"web_page", "<!DOCTYPE html>", "web page"},
        {"not_json", "num_layers = 28", "not valid JSON"},
        {"cut_short", chatglm2().dump().substr(0, 300), "not valid JSON"},
        {"number_beyond_double", R"({"model_type":1e999})", "not valid JSON"},
        {"list", "[]", "not an object"},
        {"key_twice", R"({"model_type":"chatglm","model_type":"chatglm"})", "names \"model_type\" twice"},
        {"nested", nested_objects(150000), "nested too deeply"},
        {"nested_lists", R"({"a":)" + std::string(500000, '[') + std::string(500000, ']') + "}",
         "nested too deeply"},
        {"huge", "{" + std::string(2U << 20U, ' ') + "}", "more than the"},
    };
}

CheckResult check_accepted(const Accepted& item) {
    const auto config = parse_model_config(changed(item.patch), "config.json");
    if (!config) return failed(config.error().message);
    if (summary(*config) != item.summary) return failed(summary(*config));
    return config->ffn_hidden_size == 13696 && config->qkv_rows() == 4608 && config->rotary_dim() == 64
               ? passed()
               : failed("derived sizes");
}

CheckResult check_refused(const Refused& item) {
    return expect_refused(parse_model_config(changed(item.patch), "config.json"), item.kind, "config.json",
                          item.finding);
}

CheckResult check_bad_text(const BadText& item) {
    return expect_refused(parse_model_config(item.text, "config.json"), kBadFile, "config.json",
                          item.finding);
}

/// JSON null means "not set", a byte order mark is no obstacle, unknown keys are nobody's business.
CheckResult check_as_written_by_hand() {
    std::string text = chatglm2().dump();
    text.insert(1,
                R"("quantization_bit":null,"pre_seq_len":null,"rope_scaling":null,"my_note":[{"x":null}],)");
    const auto config = parse_model_config("\xEF\xBB\xBF" + text, "config.json");
    if (!config) return failed(config.error().message);
    return config->quantization_bit == 0 && config->pre_seq_len == 0 ? passed() : failed(summary(*config));
}

CheckResult check_folder() {
    const TempFolder folder;
    folder.write("config.json", chatglm2().dump());
    const auto config = read_model_config(folder.path());
    return config ? passed() : failed(config.error().message);
}

}  // namespace

std::vector<Check> config_checks() {
    std::vector<Check> checks{{"config/as_written_by_hand", check_as_written_by_hand},
                              {"config/folder", check_folder}};
    for (const Accepted& item : kAccepted) {
        checks.push_back(
            {fmt::format("config/accepts/{}", item.name), [&item] { return check_accepted(item); }});
    }
    for (const Refused& item : kRefused) {
        checks.push_back(
            {fmt::format("config/refuses/{}", item.name), [&item] { return check_refused(item); }});
    }
    for (const BadText& item : bad_texts()) {
        checks.push_back(
            {fmt::format("config/refuses/text/{}", item.name), [item] { return check_bad_text(item); }});
    }
    return checks;
}

}  // namespace glmchat::test
