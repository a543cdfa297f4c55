#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "engine/chat/chat_engine.h"
#include "engine/status.h"

namespace glmchat::cli {

/// The options that choose a model and how it runs; the same words for every subcommand.
struct ModelOptions {
    std::string model;  ///< empty: the model last chosen, else the built-in guide model
    std::string prefix;
    std::string device = "auto";
    std::string precision = "auto";
    std::int32_t num_threads = 0;
    std::int32_t context_size = 0;
};

void add_model_option(CLI::App& command, ModelOptions& options);  ///< --model only
void add_engine_options(
    CLI::App& command,
    ModelOptions& options);  ///< --model, --prefix, --device, --precision, --threads, --ctx

/// The sampling options of `chat`.
struct SamplingOptions {
    SamplingParams params;
    std::int64_t seed = -1;  ///< -1 = random
    std::int32_t max_new_tokens = 2048;
    std::vector<std::string> stop_strings;
};
void add_sampling_options(CLI::App& command, SamplingOptions& options);

/// The folder --model means. Errors: kNotFound when there is none, kInvalidArgument when --model is not a
/// folder.
Result<std::filesystem::path> resolve_model_folder(const ModelOptions& options);
Result<ChatEngineOptions> resolve_engine_options(const ModelOptions& options);

/// Loads tokenizer, weights and scheduler, with a progress line.
Result<std::unique_ptr<ChatEngine>> load_engine(const ModelOptions& options);
/// Loads only config.json and the weights, with a progress line.
Result<std::unique_ptr<LanguageModel>> load_model(const ModelOptions& options);

/// "1,2,3" (spaces allowed) to ids. Errors: kInvalidArgument naming what is not a number.
Result<std::vector<std::int32_t>> parse_ids(const std::string& text);

}  // namespace glmchat::cli
