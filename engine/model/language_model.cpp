#include "engine/model/language_model.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "engine/loader/checkpoint.h"
#include "engine/model/backend_status.h"
#include "engine/model/chatglm2.h"
#include "engine/model/checkpoint_weights.h"
#include "engine/model/synthetic_weights.h"

namespace glmchat {
namespace {

using ModelResult = Result<std::unique_ptr<LanguageModel>>;

Result<void> check_options(const ModelLoadOptions& options) {
    if (options.max_positions >= 0) return {};
    return failure(StatusKind::kInvalidArgument,
                   fmt::format("A context of {} positions makes no sense; give a positive number.",
                               options.max_positions));
}

/// Takes pre_seq_len and prefix_projection from the prefix's own config.json.
Result<void> apply_prefix_config(const std::filesystem::path& prefix_folder, ModelConfig& config) {
    const Result<ModelConfig> prefix_config = read_model_config(prefix_folder);
    if (!prefix_config) return tl::unexpected(prefix_config.error());
    if (prefix_config->pre_seq_len == 0) {
        return failure(
            StatusKind::kBadFile,
            fmt::format("config.json in {} sets no pre_seq_len, so there is no P-Tuning prefix in it; choose "
                        "the folder that the P-Tuning run wrote.",
                        display_name(prefix_folder)));
    }
    config.pre_seq_len = prefix_config->pre_seq_len;
    config.prefix_projection = prefix_config->prefix_projection;
    return {};
}

/// A P-Tuning run writes a folder that holds nothing but the prefix.
Result<void> refuse_lone_prefix(const std::filesystem::path& folder, const ModelConfig& config,
                                const Checkpoint& checkpoint) {
    const std::vector<TensorInfo>& tensors = checkpoint.tensors();
    const bool only_prefix = std::all_of(tensors.begin(), tensors.end(), [](const TensorInfo& tensor) {
        return tensor.name.starts_with("transformer.prefix_encoder.");
    });
    if (config.pre_seq_len == 0 || !only_prefix) return {};
    return failure(
        StatusKind::kUnsupported,
        fmt::format(
            "{} holds only a P-Tuning prefix; open the base model and give this folder as its prefix.",
            display_name(folder)));
}

ModelResult load_from_folder(const std::filesystem::path& folder, std::unique_ptr<kernels::Backend> backend,
                             const ModelLoadOptions& options) {
    Result<ModelConfig> config = read_model_config(folder);
    if (!config) return tl::unexpected(config.error());
    const Result<Checkpoint> checkpoint = Checkpoint::open_folder(folder);
    if (!checkpoint) return tl::unexpected(checkpoint.error());
    if (Result<void> whole = refuse_lone_prefix(folder, *config, *checkpoint); !whole) {
        return tl::unexpected(whole.error());
    }

    const Checkpoint* prefix_checkpoint = &*checkpoint;
    std::optional<Checkpoint> separate_prefix;
    if (!options.prefix_folder.empty()) {
        if (Result<void> applied = apply_prefix_config(options.prefix_folder, *config); !applied) {
            return tl::unexpected(applied.error());
        }
        Result<Checkpoint> opened = Checkpoint::open_folder(options.prefix_folder);
        if (!opened) return tl::unexpected(opened.error());
        prefix_checkpoint = &separate_prefix.emplace(std::move(*opened));
    }

    Result<CheckpointWeights> source = CheckpointWeights::create(*checkpoint, *config, options.precision);
    if (!source) return tl::unexpected(source.error());
    return ChatGlm2::create(*config, std::move(backend), *source, prefix_checkpoint, options);
}

}  // namespace

std::string precision_name(Precision precision) {
    switch (precision) {
        case Precision::kAuto:
            return "auto";
        case Precision::kFloat32:
            return "fp32";
        case Precision::kFloat16:
            return "fp16";
        case Precision::kInt8:
            return "int8";
        case Precision::kInt4:
            return "int4";
    }
    return "auto";
}

ModelResult load_language_model(const std::filesystem::path& folder,
                                std::unique_ptr<kernels::Backend> backend, const ModelLoadOptions& options) {
    if (Result<void> valid = check_options(options); !valid) return tl::unexpected(valid.error());
    return with_errors_as_status([&] { return load_from_folder(folder, std::move(backend), options); });
}

ModelResult make_synthetic_model(std::string_view shape_name, std::int32_t num_layers,
                                 std::unique_ptr<kernels::Backend> backend, const ModelLoadOptions& options) {
    if (Result<void> valid = check_options(options); !valid) return tl::unexpected(valid.error());
    if (num_layers < 0) {
        return failure(
            StatusKind::kInvalidArgument,
            fmt::format("A model of {} layers makes no sense; give a positive number.", num_layers));
    }
    return with_errors_as_status([&]() -> ModelResult {
        Result<ModelConfig> config = synthetic_config(shape_name);
        if (!config) return tl::unexpected(config.error());
        if (num_layers != 0) config->num_layers = num_layers;
        SyntheticWeights source(options.precision);
        return ChatGlm2::create(*config, std::move(backend), source, nullptr, options);
    });
}

}  // namespace glmchat
