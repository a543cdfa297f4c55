#include <algorithm>
#include <memory>
#include <numeric>

#include "tests/engine/model/expectations.h"
#include "tests/engine/model/failing_backend.h"
#include "tests/engine/model/model_checks.h"
#include "tests/engine/model/model_runner.h"
#include "tests/support/conformance_kit.h"
#include <fmt/format.h>

#include "engine/model/memory_estimate.h"

namespace glmchat::test {
namespace {

std::filesystem::path golden_folder(const std::string& name) {
    return source_dir() / "tests" / "golden" / "models" / name;
}

std::unique_ptr<LanguageModel> load_plain(std::int32_t max_positions = 0) {
    ModelLoadOptions options;
    options.max_positions = max_positions;
    return value_or_throw(load_language_model(golden_folder("plain-fp16/safetensors"),
                                              kernels::make_reference_backend(), options));
}

CheckResult check_bad_token(std::int32_t token_id) {
    const std::unique_ptr<LanguageModel> model = load_plain();
    ModelRunner runner(*model, 1, 8);
    const std::int32_t ids[] = {5, token_id, 7};
    return expect_failure(runner.feed({{0, ids}}), StatusKind::kInvalidArgument,
                          {fmt::format("Token id {}", token_id)});
}

CheckResult check_positions() {
    const std::unique_ptr<LanguageModel> model = load_plain(8);
    ModelRunner runner(*model, 1, 16);
    const std::vector<std::int32_t> ids(8, 5);
    value_or_throw(runner.feed({{0, ids}}));
    return expect_failure(runner.feed({{0, std::span(ids).first(1)}}), StatusKind::kInvalidArgument,
                          {"Position 8"});
}

CheckResult check_negative_context() {
    ModelLoadOptions options;
    options.max_positions = -1;
    return expect_failure(load_language_model(golden_folder("plain-fp16/safetensors"),
                                              kernels::make_reference_backend(), options),
                          StatusKind::kInvalidArgument, {"-1"});
}

CheckResult check_empty_batch() {
    const std::unique_ptr<LanguageModel> model = load_plain();
    ModelRunner runner(*model, 1, 8);
    return expect(value_or_throw(runner.feed({})).empty(), "an empty batch gives logits");
}

/// A cache of another geometry, or logits of another size, must not be written to.
CheckResult check_misfit(bool wrong_logits) {
    const std::unique_ptr<LanguageModel> model = load_plain();
    const std::int32_t zeros[] = {0};
    const std::int32_t starts[] = {0, 1};
    const kernels::RaggedBatch batch{zeros, zeros, zeros, zeros, starts, zeros, 1};
    std::vector<float> memory(1 << 14);
    kernels::KvCacheView cache{memory.data(), kernels::ElementType::kFloat32, 2, 1, 4, 2, 8};
    std::vector<float> logits(128);
    if (wrong_logits)
        logits.resize(127);
    else
        cache.num_layers = 1;
    ForwardOptions options;
    options.logit_rows = zeros;
    return expect_failure(model->forward(batch, cache, options, logits), StatusKind::kInternal, {});
}

CheckResult check_cancel_between_layers() {
    const std::unique_ptr<LanguageModel> model = load_plain();
    ModelRunner runner(*model, 1, 8);
    const std::int32_t ids[] = {5, 6, 7};
    std::stop_source stop;
    std::int32_t last_layer = -1;
    ForwardOptions options;
    options.stop = stop.get_token();
    options.on_hidden_states = [&](std::int32_t layer, std::span<const float>) {
        last_layer = layer;
        if (layer == 1) stop.request_stop();
    };
    const CheckResult cancelled =
        expect_failure(runner.feed({{0, ids}}, options), StatusKind::kCancelled, {});
    if (cancelled.outcome != CheckResult::Outcome::kPassed) return cancelled;
    if (last_layer != 1) return failed(fmt::format("went on to layer {}", last_layer));
    ModelRunner fresh(*model, 1, 8);
    return expect(value_or_throw(runner.feed({{0, ids}})) == value_or_throw(fresh.feed({{0, ids}})),
                  "the pass after a cancelled one differs");
}

/// Load with prefix, prefix into the cache, two passes of growing size: everything that allocates.
Result<void> whole_life(const std::shared_ptr<AllocationLog>& log) {
    ModelLoadOptions options;
    options.prefix_folder = golden_folder("prefix-projection/prefix-only");
    Result<std::unique_ptr<LanguageModel>> model =
        load_language_model(golden_folder("plain-fp16/safetensors"), make_failing_backend(log), options);
    if (!model) return tl::unexpected(model.error());

    // The cache is the caller's: its memory comes from elsewhere, so that only the model's own requests are
    // counted.
    const ModelConfig& config = (*model)->config();
    const std::int32_t max_tokens = 80 + config.pre_seq_len;
    kernels::KvCacheView cache{nullptr,    kernels::ElementType::kFloat32, config.num_layers, 1,
                               max_tokens, config.multi_query_group_num,   config.kv_channels};
    std::vector<std::byte> memory(cache.bytes_per_block());
    cache.data = memory.data();
    const std::int32_t block_table[] = {0};
    if (Result<void> written = (*model)->write_prefix(cache, block_table); !written) return written;

    for (const std::int32_t num_tokens : {3, 80}) {
        const std::vector<std::int32_t> zeros(static_cast<std::size_t>(num_tokens), 0);
        std::vector<std::int32_t> positions(zeros.size());
        std::iota(positions.begin(), positions.end(), 0);
        std::vector<std::int32_t> slots(zeros.size());
        std::iota(slots.begin(), slots.end(), config.pre_seq_len);
        const std::int32_t starts[] = {0, num_tokens};
        const std::int32_t rows[] = {num_tokens - 1};
        std::vector<float> logits(static_cast<std::size_t>(config.padded_vocab_size));
        ForwardOptions forward_options;
        forward_options.logit_rows = rows;
        const kernels::RaggedBatch batch{zeros, positions, zeros, slots, starts, block_table, 1};
        if (Result<void> done = (*model)->forward(batch, cache, forward_options, logits); !done) return done;
    }
    return {};
}

CheckResult check_every_allocation(kernels::BackendError::Kind kind, StatusKind expected) {
    for (int fail_at = 1;; ++fail_at) {
        const auto log = std::make_shared<AllocationLog>();
        log->fail_at = fail_at;
        log->kind = kind;
        const Result<void> result = whole_life(log);
        if (log->num_alive != 0) return failed(fmt::format("request {}: {} leaked", fail_at, log->num_alive));
        if (result) {
            return expect(log->num_requests == fail_at - 1 && fail_at > 20,
                          "a failed request went unnoticed");
        }
        if (result.error().kind != expected) {
            return failed(fmt::format("request {}: {}", fail_at, result.error().message));
        }
    }
}

/// A forward pass that failed for want of memory leaves the model usable.
CheckResult check_retry_after_failure() {
    const auto log = std::make_shared<AllocationLog>();
    const std::unique_ptr<LanguageModel> model = value_or_throw(load_language_model(
        golden_folder("plain-fp16/safetensors"), make_failing_backend(log), ModelLoadOptions{}));
    ModelRunner runner(*model, 1, 8);
    const std::int32_t ids[] = {5, 6, 7};
    log->fail_at = log->num_requests + 1;
    const CheckResult refused = expect_failure(runner.feed({{0, ids}}), StatusKind::kOutOfMemory, {"memory"});
    if (refused.outcome != CheckResult::Outcome::kPassed) return refused;
    return expect(runner.feed({{0, ids}}).has_value(), "the next pass fails too");
}

CheckResult check_activation_estimate() {
    const auto log = std::make_shared<AllocationLog>();
    const std::unique_ptr<LanguageModel> model = value_or_throw(load_language_model(
        golden_folder("plain-fp16/safetensors"), make_failing_backend(log), ModelLoadOptions{}));
    ModelRunner runner(*model, 1, 64);
    const std::vector<std::int32_t> ids(64, 5);
    value_or_throw(runner.feed({{0, ids}}));
    const std::size_t estimate =
        estimate_activation_bytes(model->config(), 64, model->backend().activation_type());
    return expect(log->last_request == estimate,
                  fmt::format("{} bytes taken, {} estimated", log->last_request, estimate));
}

}  // namespace

std::vector<Check> failure_checks() {
    using Kind = kernels::BackendError::Kind;
    return {
        {"forward/token-id-negative", [] { return check_bad_token(-1); }},
        {"forward/token-id-too-large", [] { return check_bad_token(128); }},
        {"forward/position-beyond-table", check_positions},
        {"forward/empty-batch", check_empty_batch},
        {"forward/misfit-cache", [] { return check_misfit(false); }},
        {"forward/misfit-logits", [] { return check_misfit(true); }},
        {"forward/cancel-between-layers", check_cancel_between_layers},
        {"loading/negative-context", check_negative_context},
        {"allocation/every-one-out-of-memory",
         [] { return check_every_allocation(Kind::kOutOfMemory, StatusKind::kOutOfMemory); }},
        {"allocation/every-one-device-failure",
         [] { return check_every_allocation(Kind::kDeviceFailure, StatusKind::kDeviceFailure); }},
        {"allocation/retry-after-failure", check_retry_after_failure},
        {"allocation/activation-estimate", check_activation_estimate},
    };
}

}  // namespace glmchat::test
