#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "tests/engine/model/damaged_folder.h"
#include "tests/engine/model/expectations.h"
#include "tests/engine/model/model_case.h"
#include "tests/engine/model/model_checks.h"
#include "tests/engine/model/model_runner.h"
#include "tests/engine/model/quantized_element.h"
#include "tests/support/conformance_kit.h"
#include <fmt/format.h>

#include "engine/loader/checkpoint.h"
#include "engine/model/checkpoint_weights.h"
#include "engine/model/memory_estimate.h"

namespace glmchat::test {
namespace {

using kernels::ElementType;
using kernels::LinearWeight;

std::filesystem::path golden_folder(const std::string& name) {
    return source_dir() / "tests" / "golden" / "models" / name;
}

Result<std::unique_ptr<LanguageModel>> load(const std::filesystem::path& folder,
                                            ModelLoadOptions options = {}) {
    return load_language_model(folder, kernels::make_reference_backend(), options);
}

// --- precisions ---

struct PrecisionRow {
    std::string folder;
    Precision asked;
    Precision kept;
    double tolerance;  ///< of the logits, in standard deviations
};

// Four bits leave a few levels per weight: only a gross slip shows in such a small model's logits. Exactness
// of the quantisation itself is conversion_checks' business.
constexpr double kExact = 1e-4;
constexpr double kInt8Noise = 0.1;
constexpr double kInt4Noise = 1.5;

const std::vector<PrecisionRow> kPrecisions = {
    {"plain-fp16/safetensors", Precision::kAuto, Precision::kFloat16, kExact},
    {"plain-fp16/safetensors", Precision::kFloat16, Precision::kFloat16, kExact},
    {"plain-fp16/safetensors", Precision::kFloat32, Precision::kFloat32, kExact},
    {"plain-fp16/safetensors", Precision::kInt8, Precision::kInt8, kInt8Noise},
    {"plain-fp16/safetensors", Precision::kInt4, Precision::kInt4, kInt4Noise},
    {"plain-bf16/safetensors", Precision::kAuto, Precision::kFloat16, kExact},
    {"plain-bf16/safetensors", Precision::kFloat16, Precision::kFloat16, kExact},
    {"plain-bf16/safetensors", Precision::kFloat32, Precision::kFloat32, kExact},
    {"plain-bf16/safetensors", Precision::kInt8, Precision::kInt8, kInt8Noise},
    {"official-int8/safetensors", Precision::kAuto, Precision::kInt8, kExact},
    {"official-int8/safetensors", Precision::kInt8, Precision::kInt8, kExact},
    {"official-int8/safetensors", Precision::kFloat32, Precision::kInt8, kExact},
    {"official-int4/safetensors", Precision::kAuto, Precision::kInt4, kExact},
    {"official-int4/safetensors", Precision::kInt4, Precision::kInt4, kExact},
    {"official-int4/safetensors", Precision::kFloat16, Precision::kInt4, kExact},
    {"official-int4/safetensors", Precision::kFloat32, Precision::kInt4, kExact},
};

CheckResult check_precision(const PrecisionRow& row) {
    ModelLoadOptions options;
    options.precision = row.asked;
    const std::unique_ptr<LanguageModel> model = value_or_throw(load(golden_folder(row.folder), options));
    if (model->precision() != row.kept) return failed("keeps " + precision_name(model->precision()));
    const std::size_t estimate = estimate_weight_bytes(model->config(), row.asked);
    if (model->weight_bytes() != estimate) {
        return failed(fmt::format("{} bytes where {} were estimated", model->weight_bytes(), estimate));
    }

    const std::string case_name = row.folder.substr(0, row.folder.find('/'));
    const PromptCase prompt = read_model_case(source_dir() / "tests" / "golden", case_name).prompts.back();
    ModelRunner runner(*model, 1, static_cast<std::int32_t>(prompt.input_ids.size()));
    const std::vector<float> logits = value_or_throw(runner.feed({{0, prompt.input_ids}}));
    double worst = 0;
    double sum_of_squares = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        worst = std::max(worst, std::fabs(double{logits[i]} - prompt.logits.values[i]));
        sum_of_squares += prompt.logits.values[i] * prompt.logits.values[i];
    }
    worst /= std::sqrt(sum_of_squares / static_cast<double>(logits.size()));
    const std::string figures = fmt::format("{} bytes, logits {:.1e} std", estimate, worst);
    return worst <= row.tolerance ? passed(figures) : failed(figures);
}

CheckResult check_refused_precision(const std::string& folder, Precision asked) {
    ModelLoadOptions options;
    options.precision = asked;
    return expect_failure(load(golden_folder(folder), options), StatusKind::kUnsupported,
                          {precision_name(asked), "already quantised"});
}

// --- views of the file ---

CheckResult check_zero_copy(const std::string& folder, const std::string& tensor, std::int64_t rows,
                            std::int64_t cols) {
    const ModelConfig config = value_or_throw(read_model_config(golden_folder(folder)));
    const Checkpoint checkpoint = value_or_throw(Checkpoint::open_folder(golden_folder(folder)));
    CheckpointWeights source =
        value_or_throw(CheckpointWeights::create(checkpoint, config, Precision::kAuto));
    WeightSlot slot;
    slot.role = WeightRole::kLayerLinear;
    slot.name = tensor;
    slot.rows = rows;
    slot.cols = cols;
    const LinearWeight weight = value_or_throw(source.host_weight(slot));
    const HostTensor stored = value_or_throw(checkpoint.tensor(tensor));
    return expect(weight.data == stored.bytes.data() && weight.owner != nullptr, "the weight is a copy");
}

CheckResult check_dequantised_bits(const std::filesystem::path& kit, const std::string& case_name) {
    const ModelCase model_case = read_model_case(kit, case_name);
    const std::filesystem::path& folder = model_case.checkpoints.front();
    const ModelConfig config = value_or_throw(read_model_config(folder));
    const Checkpoint checkpoint = value_or_throw(Checkpoint::open_folder(folder));
    CheckpointWeights source =
        value_or_throw(CheckpointWeights::create(checkpoint, config, Precision::kAuto));
    for (const auto& [tensor, file] : model_case.dequantised) {
        const NpyArray expected = read_npy(model_case.expected_dir / file);
        WeightSlot slot;
        slot.role = WeightRole::kLayerLinear;
        slot.name = tensor;
        slot.rows = expected.shape[0];
        slot.cols = expected.shape[1];
        const LinearWeight weight = value_or_throw(source.host_weight(slot));
        for (std::int64_t i = 0; i < slot.num_elements(); ++i) {
            const std::int64_t row = i / slot.cols;
            const std::int64_t col = i % slot.cols;
            const float value = static_cast<float>(level_of(weight, row, col)) * scale_of(weight, row, col);
            if (double{value} != expected.values[static_cast<std::size_t>(i)]) {
                return failed(fmt::format("{} element {}", tensor, i));
            }
        }
    }
    return passed(fmt::format("{} tensors bit-exact", model_case.dequantised.size()));
}

// --- folders that must be refused ---

constexpr const char* kDense = "transformer.encoder.layers.1.self_attention.dense.weight";
constexpr const char* kScale = "transformer.encoder.layers.1.self_attention.dense.weight_scale";
constexpr const char* kPrefixEmbedding = "transformer.prefix_encoder.embedding.weight";

void leave(nlohmann::json& /*unchanged*/) {}

/// `key` gets another name, so the tensor is missing and an unknown one lies in its place.
DamagedFolder::Edit rename(const std::string& key) {
    return [key](nlohmann::json& header) {
        header["unknown"] = header.at(key);
        header.erase(key);
    };
}

DamagedFolder::Edit set(const std::string& key, const std::string& field, const nlohmann::json& value) {
    return [=](nlohmann::json& header) { header.at(key)[field] = value; };
}

struct RefusedRow {
    std::string name;
    std::string original;
    DamagedFolder::Edit edit_header;
    DamagedFolder::Edit edit_config;
    StatusKind kind;
    std::string named;  ///< what the message must name
};

const std::vector<RefusedRow> kRefused = {
    {"missing-tensor", "plain-fp16/safetensors", rename(kDense), leave, StatusKind::kBadFile, kDense},
    {"wrong-shape", "plain-fp16/safetensors", set(kDense, "shape", {64, 16}), leave, StatusKind::kBadFile,
     kDense},
    {"wrong-rank", "plain-fp16/safetensors", set(kDense, "shape", {1024}), leave, StatusKind::kBadFile,
     kDense},
    {"wrong-type", "plain-fp16/safetensors", set(kDense, "dtype", "I16"), leave, StatusKind::kBadFile,
     kDense},
    {"quantised-without-saying-so", "official-int8/safetensors", leave,
     [](nlohmann::json& config) { config.erase("quantization_bit"); }, StatusKind::kBadFile, "int8"},
    {"missing-scale", "official-int4/safetensors", rename(kScale), leave, StatusKind::kBadFile, kScale},
    {"wrong-scale-shape", "official-int4/safetensors", set(kScale, "shape", {1, 32}), leave,
     StatusKind::kBadFile, kScale},
    {"config-with-another-width", "plain-fp16/safetensors", leave,
     [](nlohmann::json& config) { config["hidden_size"] = 64; }, StatusKind::kBadFile, "word_embeddings"},
    {"config-with-more-layers", "plain-fp16/safetensors", leave,
     [](nlohmann::json& config) { config["num_layers"] = 3; }, StatusKind::kBadFile, "layers.2."},
    {"prefix-longer-than-its-weights", "prefix-merged/safetensors", leave,
     [](nlohmann::json& config) { config["pre_seq_len"] = 4; }, StatusKind::kBadFile, kPrefixEmbedding},
    {"prefix-missing", "plain-fp16/safetensors", leave,
     [](nlohmann::json& config) { config["pre_seq_len"] = 4; }, StatusKind::kBadFile, kPrefixEmbedding},
    {"prefix-projection-missing", "prefix-merged/safetensors", leave,
     [](nlohmann::json& config) { config["prefix_projection"] = true; }, StatusKind::kBadFile, "trans.0"},
};

CheckResult check_refused(const RefusedRow& row) {
    const DamagedFolder folder(golden_folder(row.original), row.edit_header, row.edit_config);
    return expect_failure(load(folder.path()), row.kind, {row.named});
}

CheckResult check_prefix_without_base() {
    return expect_failure(load(golden_folder("prefix/prefix-only")), StatusKind::kUnsupported,
                          {"prefix-only", "base model"});
}

CheckResult check_base_as_prefix() {
    ModelLoadOptions options;
    options.prefix_folder = golden_folder("plain-fp16/safetensors");
    return expect_failure(load(golden_folder("plain-fp16/safetensors"), options), StatusKind::kBadFile,
                          {"pre_seq_len"});
}

// --- progress and cancelling ---

CheckResult check_progress() {
    std::vector<float> fractions;
    ModelLoadOptions options;
    options.on_progress = [&](float fraction) { fractions.push_back(fraction); };
    value_or_throw(load(golden_folder("plain-fp16/safetensors"), options));
    if (!std::is_sorted(fractions.begin(), fractions.end())) return failed("runs backwards");
    return expect(fractions.size() > 10 && fractions.front() == 0.0F && fractions.back() == 1.0F,
                  "does not run from 0 to 1");
}

CheckResult check_cancel() {
    std::stop_source stop;
    float last_fraction = 0;
    ModelLoadOptions options;
    options.stop = stop.get_token();
    options.on_progress = [&](float fraction) {
        last_fraction = fraction;
        if (fraction > 0.5F) stop.request_stop();
    };
    const CheckResult cancelled =
        expect_failure(load(golden_folder("plain-fp16/safetensors"), options), StatusKind::kCancelled, {});
    if (cancelled.outcome != CheckResult::Outcome::kPassed) return cancelled;
    return expect(last_fraction < 0.9F, "went on loading");
}

}  // namespace

std::vector<Check> loading_checks() {
    std::vector<Check> checks;
    for (const PrecisionRow& row : kPrecisions) {
        checks.push_back({fmt::format("precision/{}/{}", row.folder, precision_name(row.asked)),
                          [&row] { return check_precision(row); }});
    }
    checks.push_back({"precision/int8-from-int4",
                      [] { return check_refused_precision("official-int4/safetensors", Precision::kInt8); }});
    checks.push_back({"precision/int4-from-int8",
                      [] { return check_refused_precision("official-int8/safetensors", Precision::kInt4); }});
    for (const char* folder :
         {"plain-fp16/safetensors", "official-int8/safetensors", "official-int4/safetensors"}) {
        checks.push_back({fmt::format("zero-copy/{}", folder),
                          [folder] { return check_zero_copy(folder, kDense, 32, 32); }});
    }
    const std::optional<std::filesystem::path> kit = conformance_kit();
    for (const char* name : {"chatglm2-tiny-int8", "chatglm2-tiny-int4"}) {
        checks.push_back({fmt::format("dequantised/{}", name), [kit, name] {
                              return kit ? check_dequantised_bits(*kit, name) : skipped(kKitMissing);
                          }});
    }
    for (const RefusedRow& row : kRefused) {
        checks.push_back({"refused/" + row.name, [&row] { return check_refused(row); }});
    }
    checks.push_back({"refused/prefix-without-base", check_prefix_without_base});
    checks.push_back({"refused/base-as-prefix", check_base_as_prefix});
    checks.push_back({"loading/progress", check_progress});
    checks.push_back({"loading/cancel", check_cancel});
    return checks;
}

}  // namespace glmchat::test
