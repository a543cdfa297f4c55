#include <array>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/model_options.h"
#include "app/cli/output.h"
#include "engine/loader/checkpoint.h"
#include "engine/loader/model_config.h"
#include "engine/model/memory_estimate.h"

namespace glmchat::cli {
namespace {

constexpr std::array kPrecisions = {Precision::kFloat32, Precision::kFloat16, Precision::kInt8,
                                    Precision::kInt4};

struct InfoOptions {
    ModelOptions model;
    bool json = false;
};

/// Precisions this checkpoint can run in: a quantised one stays as it is.
std::vector<Precision> usable_precisions(const ModelConfig& config) {
    if (config.quantization_bit == 4) return {Precision::kInt4};
    if (config.quantization_bit == 8) return {Precision::kInt8};
    return {kPrecisions.begin(), kPrecisions.end()};
}

nlohmann::json config_json(const ModelConfig& config) {
    return {{"num_layers", config.num_layers},
            {"hidden_size", config.hidden_size},
            {"ffn_hidden_size", config.ffn_hidden_size},
            {"num_attention_heads", config.num_attention_heads},
            {"multi_query_group_num", config.multi_query_group_num},
            {"kv_channels", config.kv_channels},
            {"padded_vocab_size", config.padded_vocab_size},
            {"seq_length", config.seq_length},
            {"layernorm_epsilon", config.layernorm_epsilon},
            {"torch_dtype", data_type_name(config.torch_dtype)},
            {"quantization_bit", config.quantization_bit},
            {"pre_seq_len", config.pre_seq_len}};
}

nlohmann::json tensors_json(const Checkpoint& checkpoint) {
    nlohmann::json tensors = nlohmann::json::array();
    for (const TensorInfo& info : checkpoint.tensors()) {
        tensors.push_back({{"name", info.name},
                           {"type", data_type_name(info.type)},
                           {"shape", info.shape},
                           {"file", info.file_name}});
    }
    return tensors;
}

nlohmann::json memory_json(const ModelConfig& config) {
    nlohmann::json memory = nlohmann::json::object();
    for (const Precision precision : usable_precisions(config)) {
        memory[precision_name(precision)] = {{"weight_bytes", estimate_weight_bytes(config, precision)}};
    }
    return memory;
}

/// "12.49 GB", "8.6 MB".
std::string readable_bytes(double bytes) {
    return bytes < 1e9 ? fmt::format("{:.1f} MB", bytes / 1e6) : fmt::format("{:.2f} GB", bytes / 1e9);
}

void print_text(const ModelConfig& config, const Checkpoint& checkpoint) {
    fmt::print("{}\n", config.name);
    fmt::print("  {} layers, hidden {}, {} heads in {} KV groups, vocabulary {}, context {}\n",
               config.num_layers, config.hidden_size, config.num_attention_heads,
               config.multi_query_group_num, config.padded_vocab_size, config.seq_length);
    fmt::print("  {} tensors, {}, {}\n", checkpoint.tensors().size(),
               readable_bytes(static_cast<double>(checkpoint.total_bytes())), checkpoint.format());
    fmt::print("Memory for the weights, and for weights and the KV cache of {} tokens:\n", config.seq_length);
    for (const Precision precision : usable_precisions(config)) {
        const auto kv_type = precision == Precision::kFloat32 ? kernels::ElementType::kFloat32
                                                              : kernels::ElementType::kFloat16;
        const auto weights = static_cast<double>(estimate_weight_bytes(config, precision));
        const auto cache = static_cast<double>(kv_bytes_per_token(config, kv_type)) * config.seq_length;
        fmt::print("  {:<5} {:>9} {:>9}\n", precision_name(precision), readable_bytes(weights),
                   readable_bytes(weights + cache));
    }
}

int info(const InfoOptions& options) {
    auto folder = resolve_model_folder(options.model);
    if (!folder) return report(folder.error());
    auto config = read_model_config(*folder);
    if (!config) return report(config.error());
    auto checkpoint = Checkpoint::open_folder(*folder);
    if (!checkpoint) return report(checkpoint.error());
    if (!options.json) {
        print_text(*config, *checkpoint);
        return kExitOk;
    }
    const nlohmann::json result = {
        {"name", config->name},
        {"format", checkpoint->format()},
        {"config", config_json(*config)},
        {"tensors", tensors_json(*checkpoint)},
        {"memory", memory_json(*config)},
        {"kv_bytes_per_token", kv_bytes_per_token(*config, kernels::ElementType::kFloat16)}};
    write_out(result.dump() + "\n");
    return kExitOk;
}

}  // namespace

void add_info_command(CLI::App& program, int& exit_code) {
    auto options = std::make_shared<InfoOptions>();
    CLI::App* command =
        program.add_subcommand("info", "Configuration, tensors and memory estimate of a model folder");
    add_model_option(*command, options->model);
    command->add_flag("--json", options->json, "Print one JSON object");
    command->callback([options, &exit_code] { exit_code = info(*options); });
}

}  // namespace glmchat::cli
