#include "app/cli/model_options.h"

#include <charconv>

#include <fmt/format.h>

#include "app/cli/output.h"
#include "app/model_choice/model_choice.h"

namespace glmchat::cli {
namespace fs = std::filesystem;

void add_model_option(CLI::App& command, ModelOptions& options) {
    command.add_option("--model", options.model,
                       "Model folder (default: the model last chosen, else the built-in guide model)");
}

void add_engine_options(CLI::App& command, ModelOptions& options) {
    add_model_option(command, options);
    command.add_option("--prefix", options.prefix,
                       "Folder of a P-Tuning v2 checkpoint to put over the model");
    command.add_option("--device", options.device, "auto, cpu or cuda")
        ->check(CLI::IsMember({"auto", "cpu", "cuda"}));
    command
        .add_option("--precision", options.precision,
                    "auto (what the checkpoint stores), fp32, fp16, int8 or int4")
        ->check(CLI::IsMember({"auto", "fp32", "fp16", "int8", "int4"}));
    command.add_option("--threads", options.num_threads, "CPU threads (0 = one per physical core)")
        ->check(CLI::Range(0, 1024));
    command
        .add_option("--ctx", options.context_size,
                    "Context in tokens (0 = the smaller of 8192 and what the model was made for)")
        ->check(CLI::Range(0, 1 << 21));
}

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
    SamplingParams& params = options.params;
    command.add_option("--temperature", params.temperature, "0 = always the most probable token")
        ->capture_default_str();
    command.add_option("--top-p", params.top_p, "Keep the most probable tokens up to this sum")
        ->capture_default_str();
    command.add_option("--top-k", params.top_k, "Keep this many tokens (0 = all)")->capture_default_str();
    command.add_option("--min-p", params.min_p, "Drop tokens below this share of the best one")
        ->capture_default_str();
    command.add_option("--repetition-penalty", params.repetition_penalty, "1 = off")->capture_default_str();
    command.add_option("--seed", options.seed, "Same seed, same answer (-1 = a new one each time)")
        ->capture_default_str();
    command.add_option("--max-new-tokens", options.max_new_tokens, "Longest answer in tokens")
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
    command.add_option("--stop", options.stop_strings,
                       "End the answer before this text (may be given several times)");
}

Result<fs::path> resolve_model_folder(const ModelOptions& options) {
    if (!options.model.empty()) {
        std::error_code error;
        const fs::path folder(options.model);
        if (!fs::is_directory(folder, error)) {
            return failure(StatusKind::kNotFound,
                           fmt::format("{} is not a folder. Give the folder that holds config.json, "
                                       "tokenizer.model and the weight files.",
                                       options.model));
        }
        return folder;
    }
    auto choice = read_model_choice(config_folder());
    if (!choice) return tl::unexpected(choice.error());
    if (choice->has_value()) return (*choice)->folder;
    const fs::path guide = guide_model_folder();
    if (guide.empty()) {
        return failure(StatusKind::kNotFound,
                       "The built-in guide model was not found. Name a model folder with --model, or set "
                       "GLMCHAT_RESOURCES to "
                       "the folder that holds guide-model.");
    }
    return guide;
}

Result<ChatEngineOptions> resolve_engine_options(const ModelOptions& options) {
    auto folder = resolve_model_folder(options);
    if (!folder) return tl::unexpected(folder.error());
    ChatEngineOptions resolved;
    resolved.model_folder = *folder;
    resolved.prefix_folder = options.prefix;
    resolved.device = parse_device(options.device).value_or(Device::kAuto);  // CLI11 has checked the word
    resolved.precision = parse_precision(options.precision).value_or(Precision::kAuto);
    resolved.num_threads = options.num_threads;
    resolved.context_size = options.context_size;
    return resolved;
}

Result<std::unique_ptr<ChatEngine>> load_engine(const ModelOptions& options) {
    auto resolved = resolve_engine_options(options);
    if (!resolved) return tl::unexpected(resolved.error());
    ProgressLine progress("Loading");
    return ChatEngine::load(*resolved, [&progress](float fraction) { progress.show(fraction); });
}

Result<std::unique_ptr<LanguageModel>> load_model(const ModelOptions& options) {
    auto resolved = resolve_engine_options(options);
    if (!resolved) return tl::unexpected(resolved.error());
    auto device = open_device(resolved->device, resolved->num_threads);
    if (!device) return tl::unexpected(device.error());
    ProgressLine progress("Loading");
    ModelLoadOptions load_options;
    load_options.precision = resolved->precision;
    load_options.prefix_folder = resolved->prefix_folder;
    load_options.on_progress = [&progress](float fraction) { progress.show(fraction); };
    return load_language_model(resolved->model_folder, std::move(device->backend), load_options);
}

Result<std::vector<std::int32_t>> parse_ids(const std::string& text) {
    std::vector<std::int32_t> ids;
    const char* at = text.data();
    const char* const end = at + text.size();
    const auto skip_separators = [&] {
        while (at != end && (*at == ',' || *at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
    };
    for (skip_separators(); at != end; skip_separators()) {
        std::int32_t id = 0;
        const auto [after, error] = std::from_chars(at, end, id);
        if (error != std::errc() || after == at) {
            return failure(
                StatusKind::kInvalidArgument,
                fmt::format("\"{}\" is not a list of token ids. Write them as 1,2,3.", text.substr(0, 80)));
        }
        ids.push_back(id);
        at = after;
    }
    if (ids.empty())
        return failure(StatusKind::kInvalidArgument, "There are no token ids. Write them as 1,2,3.");
    return ids;
}

}  // namespace glmchat::cli
