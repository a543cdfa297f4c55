#include <cmath>
#include <cstddef>

#include "tests/engine/model/expectations.h"
#include "tests/engine/model/model_checks.h"
#include "tests/engine/model/model_runner.h"
#include <fmt/format.h>

#include "engine/model/chatglm2_activations.h"
#include "engine/model/memory_estimate.h"
#include "engine/model/synthetic_weights.h"

namespace glmchat::test {
namespace {

using kernels::ElementType;

Result<std::unique_ptr<LanguageModel>> make(std::string_view shape, std::int32_t num_layers,
                                            Precision precision) {
    ModelLoadOptions options;
    options.precision = precision;
    return make_synthetic_model(shape, num_layers, kernels::make_reference_backend(), options);
}

std::vector<float> some_logits(LanguageModel& model) {
    const std::int32_t ids[] = {1, 2, 3, 4, 5};
    ModelRunner runner(model, 1, 8);
    return value_or_throw(runner.feed({{0, ids}}));
}

CheckResult check_precision(Precision asked, Precision kept) {
    const std::unique_ptr<LanguageModel> model = value_or_throw(make("chatglm2-tiny", 3, asked));
    if (model->precision() != kept || model->config().num_layers != 3)
        return failed("precision or layer count");
    if (model->weight_bytes() != estimate_weight_bytes(model->config(), kept)) return failed("weight bytes");
    const std::vector<float> logits = some_logits(*model);
    double sum_of_squares = 0;
    for (const float logit : logits) sum_of_squares += double{logit} * logit;
    const double size = std::sqrt(sum_of_squares / static_cast<double>(logits.size()));
    if (!(size > 0.05 && size < 20)) return failed(fmt::format("logits of size {}", size));
    const bool repeats = some_logits(*value_or_throw(make("chatglm2-tiny", 3, asked))) == logits;
    return repeats ? passed(fmt::format("logits of size {:.2f}", size))
                   : failed("not the same weights again");
}

CheckResult check_refused(std::string_view shape, std::int32_t num_layers, const std::string& word) {
    return expect_failure(make(shape, num_layers, Precision::kAuto), StatusKind::kInvalidArgument, {word});
}

/// More logit rows than go through the output layer at once.
CheckResult check_many_logit_rows() {
    const std::unique_ptr<LanguageModel> model =
        value_or_throw(make("chatglm2-tiny", 1, Precision::kFloat32));
    constexpr std::int32_t kNumTokens = ChatGlm2Activations::kLogitRows + 7;
    std::vector<std::int32_t> ids;
    for (std::int32_t i = 0; i < kNumTokens; ++i) ids.push_back(i * 7 % 512);
    ModelRunner runner(*model, 1, kNumTokens);
    const std::vector<float> at_once = value_or_throw(runner.feed({{0, ids}}));
    runner.clear(0);
    return expect(at_once == runner.prefill(0, ids, 10), "rows depend on how many are asked for");
}

/// The published index of ChatGLM2-6B says total_size 12487168064: all tensors in float16, rotary inv_freq
/// (32 values) included.
CheckResult check_weight_estimate() {
    const ModelConfig config = value_or_throw(synthetic_config("chatglm2-6b"));
    constexpr std::size_t kInvFreqBytes = 32 * 2;
    constexpr std::size_t kNumVectorElements = 28 * (2 * 4096 + 4608) + 4096;  // float16 there, float32 here
    const std::size_t expected = 12487168064 - kInvFreqBytes + 2 * kNumVectorElements;
    if (estimate_weight_bytes(config, Precision::kFloat16) != expected) return failed("fp16");
    if (estimate_weight_bytes(config, Precision::kAuto) != expected) return failed("auto");
    if (estimate_weight_bytes(config, Precision::kFloat32) !=
        2 * (expected - 4 * kNumVectorElements) + 4 * kNumVectorElements) {
        return failed("fp32");
    }
    std::string sizes;
    for (const Precision precision : {Precision::kFloat16, Precision::kInt8, Precision::kInt4}) {
        sizes += fmt::format("{} {:.2f} GB ", precision_name(precision),
                             static_cast<double>(estimate_weight_bytes(config, precision)) / 1e9);
    }
    return passed(sizes);
}

CheckResult check_kv_estimate() {
    const ModelConfig config = value_or_throw(synthetic_config("chatglm2-6b"));
    return expect(kv_bytes_per_token(config, ElementType::kFloat16) == 28 * 1024 &&
                      kv_bytes_per_token(config, ElementType::kFloat32) == 56 * 1024,
                  "KV bytes per token");
}

CheckResult check_activation_estimate() {
    const ModelConfig config = value_or_throw(synthetic_config("chatglm2-6b"));
    const std::size_t one = estimate_activation_bytes(config, 256, ElementType::kFloat32);
    const std::size_t two = estimate_activation_bytes(config, 512, ElementType::kFloat32);
    const std::size_t per_token = 4 * (2 * 4096 + 4608 + 4096 + 3 * 13696);
    return expect(two - one == 256 * per_token, fmt::format("{} bytes per token", (two - one) / 256));
}

}  // namespace

std::vector<Check> synthetic_checks() {
    return {
        {"synthetic/auto", [] { return check_precision(Precision::kAuto, Precision::kFloat16); }},
        {"synthetic/fp32", [] { return check_precision(Precision::kFloat32, Precision::kFloat32); }},
        {"synthetic/fp16", [] { return check_precision(Precision::kFloat16, Precision::kFloat16); }},
        {"synthetic/int8", [] { return check_precision(Precision::kInt8, Precision::kInt8); }},
        {"synthetic/int4", [] { return check_precision(Precision::kInt4, Precision::kInt4); }},
        {"synthetic/unknown-shape", [] { return check_refused("chatglm9", 1, "chatglm2-6b"); }},
        {"synthetic/negative-layers", [] { return check_refused("chatglm2-tiny", -1, "-1"); }},
        {"synthetic/many-logit-rows", check_many_logit_rows},
        {"estimate/weights", check_weight_estimate},
        {"estimate/kv-cache", check_kv_estimate},
        {"estimate/activations", check_activation_estimate},
    };
}

}  // namespace glmchat::test
