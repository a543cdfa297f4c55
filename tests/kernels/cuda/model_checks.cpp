#include <algorithm>
#include <cmath>
#include <numeric>

#include "cuda_emulator/control.h"
#include "tests/engine/model/model_case.h"
#include "tests/engine/model/model_runner.h"
#include "tests/kernels/cuda/cuda_check_parts.h"
#include "tests/support/conformance_kit.h"

#include "engine/model/language_model.h"
#include "kernels/backend.h"
#include "kernels/cuda/cuda_backend.h"

/// Whole models on the CUDA backend: our golden models against the reference's numbers, and the guide model,
/// whose shapes reach the tensor-core kernels, against kernels/reference.
namespace glmchat::test {
namespace {

using kernels::ElementType;

std::unique_ptr<kernels::Backend> make_cuda() {
    return std::make_unique<kernels::cuda::CudaBackend>(0);
}

double deviation(std::span<const double> values) {
    const double mean =
        std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
    double squares = 0.0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    return std::sqrt(squares / static_cast<double>(values.size()));
}

/// The largest difference of the last expected.size() found values, in standard deviations of what is
/// expected.
double relative_difference(std::span<const float> found, std::span<const double> expected) {
    double worst = 0.0;
    const auto last = found.last(expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double difference = std::abs(double{last[i]} - expected[i]);
        worst = difference <= worst ? worst : difference;  // a NaN becomes the worst and stays it
    }
    return worst / deviation(expected);
}

// Up to 16 rows every kernel works in float32: the conformance kit's rule for float32 paths. Longer prefills
// round activations to the weight's 16 bits, 2^-12 (FP16) or 2^-9 (BF16) of each, which adds up over the
// layers.
constexpr double kExact = 1e-4;
constexpr double kRounded = 2e-2;

std::unique_ptr<LanguageModel> load_case(const ModelCase& model_case) {
    const bool is_prefix = !model_case.base_checkpoint.empty();
    ModelLoadOptions options;
    if (is_prefix) options.prefix_folder = model_case.checkpoints.front();
    return value_or_throw(load_language_model(
        is_prefix ? model_case.base_checkpoint : model_case.checkpoints.front(), make_cuda(), options));
}

CheckResult check_golden(const std::string& name) {
    const ModelCase model_case = read_model_case(source_dir() / "tests" / "golden", name);
    const std::unique_ptr<LanguageModel> model = load_case(model_case);
    double exact = 0.0;
    double rounded = 0.0;
    std::size_t num_greedy = 0;
    for (const PromptCase& prompt : model_case.prompts) {
        const auto num_tokens = static_cast<std::int32_t>(prompt.input_ids.size());
        ModelRunner runner(*model, 1, num_tokens + static_cast<std::int32_t>(prompt.greedy.size()));
        for (const std::int32_t chunk : {1, 16}) {
            runner.clear(0);
            const std::vector<float> logits = runner.prefill(0, prompt.input_ids, chunk);
            exact = std::max(exact, relative_difference(logits, prompt.logits.values));
        }
        runner.clear(0);
        const std::vector<float> logits = value_or_throw(runner.feed({{0, prompt.input_ids}}));
        rounded = std::max(rounded, relative_difference(logits, prompt.logits.values));
        if (num_tokens > 16) continue;  // the greedy run begins with the whole prompt
        runner.clear(0);
        const auto num_new = static_cast<std::int32_t>(prompt.greedy.size());
        if (runner.generate_greedy(0, prompt.input_ids, num_new) != prompt.greedy)
            return failed("greedy tokens differ");
        num_greedy += prompt.greedy.size();
    }
    const std::string figures = "logits " + std::to_string(exact) + " std, long prefill " +
                                std::to_string(rounded) + " std, " + std::to_string(num_greedy) +
                                " greedy tokens equal";
    return exact <= kExact && rounded <= kRounded ? passed(figures) : failed(figures);
}

/// Feeds sequences into an FP16 cache of their own and collects all logits.
class HalfCacheRunner {
  public:
    explicit HalfCacheRunner(LanguageModel& model) : model_(model) {
        const ModelConfig& config = model.config();
        cache_ = {nullptr,    ElementType::kFloat16,        config.num_layers, kSequences * kBlocks,
                  kBlockSize, config.multi_query_group_num, config.kv_channels};
        memory_ =
            model.backend().allocate(cache_.bytes_per_block() * static_cast<std::size_t>(cache_.num_blocks));
        cache_.data = memory_.data();
    }

    /// Appends ids[s] to sequence s, empty ones are left out. @return logits of the last row of each
    std::vector<float> feed(const std::vector<std::vector<std::int32_t>>& ids) {
        std::vector<std::int32_t> token_ids, positions, sequence_ids, starts{0}, tables, last_rows;
        for (std::size_t s = 0; s < ids.size(); ++s) {
            if (ids[s].empty()) continue;
            for (const std::int32_t id : ids[s]) {
                token_ids.push_back(id);
                positions.push_back(lengths_[s]++);
                sequence_ids.push_back(static_cast<std::int32_t>(starts.size()) - 1);
            }
            starts.push_back(static_cast<std::int32_t>(token_ids.size()));
            last_rows.push_back(starts.back() - 1);
            for (std::int32_t b = 0; b < kBlocks; ++b) {
                tables.push_back(static_cast<std::int32_t>(s) + kSequences * ((b * 5 + 3) % kBlocks));
            }
        }
        std::vector<float> logits(last_rows.size() *
                                  static_cast<std::size_t>(model_.config().padded_vocab_size));
        ForwardOptions options;
        options.logit_rows = last_rows;
        const kernels::RaggedBatch batch{token_ids, positions, sequence_ids, positions,
                                         starts,    tables,    kBlocks};
        if (Result<void> done = model_.forward(batch, cache_, options, logits); !done) {
            throw std::runtime_error(done.error().message + " " + done.error().detail);
        }
        return logits;
    }

  private:
    static constexpr std::int32_t kSequences = 2;
    static constexpr std::int32_t kBlocks = 16;
    static constexpr std::int32_t kBlockSize = 16;

    LanguageModel& model_;
    kernels::KvCacheView cache_;
    kernels::Buffer memory_;
    std::vector<std::int32_t> lengths_ = std::vector<std::int32_t>(kSequences);
};

std::vector<std::int32_t> some_ids(std::int32_t count, std::int32_t first) {
    std::vector<std::int32_t> ids;
    for (std::int32_t i = 0; i < count; ++i) ids.push_back(300 + (first + i * 37) % 2000);
    return ids;
}

/// Two chats: prompts of 9 and 5 tokens, decode side by side, one alone. All passes in one vector.
std::vector<float> short_conversation(LanguageModel& model) {
    HalfCacheRunner runner(model);
    std::vector<float> all = runner.feed({some_ids(9, 1), some_ids(5, 7)});
    const auto append = [&](const std::vector<float>& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    append(runner.feed({{311}, {999}}));
    append(runner.feed({{512}, {400}}));
    append(runner.feed({{}, {401}}));
    return all;
}

std::unique_ptr<LanguageModel> load_guide(std::unique_ptr<kernels::Backend> backend, Precision precision) {
    ModelLoadOptions options;
    options.precision = precision;
    options.max_positions = 256;
    return value_or_throw(
        load_language_model(source_dir() / "resources" / "guide-model", std::move(backend), options));
}

/// Keys and values that fall on the other side of a rounding boundary of the FP16 cache differ by 2^-11.
constexpr double kHalfCache = 2e-3;

CheckResult check_guide(Precision precision) {
    const auto reference = load_guide(kernels::make_reference_backend(), precision);
    const std::vector<float> expected = short_conversation(*reference);
    const auto model = load_guide(make_cuda(), precision);
    const std::vector<float> found = short_conversation(*model);
    const double difference =
        relative_difference(found, std::vector<double>(expected.begin(), expected.end()));
    const std::string figures = std::to_string(difference) + " std";
    return found.size() == expected.size() && difference <= kHalfCache ? passed(figures) : failed(figures);
}

/// @param num_tokens  just more than the weight's format is multiplied without cuBLAS
CheckResult check_guide_prefill(Precision precision, std::int32_t num_tokens) {
    const auto reference = load_guide(kernels::make_reference_backend(), precision);
    const auto model = load_guide(make_cuda(), precision);
    HalfCacheRunner expected_runner(*reference);
    HalfCacheRunner runner(*model);
    const std::vector<float> expected = expected_runner.feed({some_ids(num_tokens, 3)});
    const std::vector<float> found = runner.feed({some_ids(num_tokens, 3)});
    const double difference =
        relative_difference(found, std::vector<double>(expected.begin(), expected.end()));
    const std::string figures = std::to_string(difference) + " std";
    return difference <= kRounded ? passed(figures) : failed(figures);
}

/// Replayed graphs give the numbers of the first time; nothing is allocated once the first steps have been
/// made.
CheckResult check_replay() {
    const auto model = load_guide(make_cuda(), Precision::kInt4);
    const std::vector<float> first = short_conversation(*model);
    HalfCacheRunner runner(*model);
    std::vector<float> all = runner.feed({some_ids(9, 1), some_ids(5, 7)});
    emu::forbid_allocation(true);
    for (const auto& step :
         std::vector<std::vector<std::vector<std::int32_t>>>{{{311}, {999}}, {{512}, {400}}, {{}, {401}}}) {
        const std::vector<float> more = runner.feed(step);
        all.insert(all.end(), more.begin(), more.end());
    }
    emu::forbid_allocation(false);
    return all == first ? passed() : failed("a replayed step differs");
}

}  // namespace

std::vector<Check> cuda_model_checks() {
    std::vector<Check> checks;
    for (const char* name :
         {"plain-fp16", "plain-bf16", "official-int8", "official-int4", "prefix", "prefix-projection"}) {
        checks.push_back({std::string("models/golden ") + name, [name] { return check_golden(name); }});
    }
    for (const auto& [precision, num_tokens] :
         {std::pair{Precision::kFloat16, 17}, {Precision::kInt8, 65}, {Precision::kInt4, 129}}) {
        const std::string name = precision_name(precision);
        checks.push_back({"models/guide " + name, [p = precision] { return check_guide(p); }});
        checks.push_back({"models/guide long prefill " + name,
                          [p = precision, n = num_tokens] { return check_guide_prefill(p, n); }});
    }
    checks.push_back({"models/guide replayed graphs", check_replay});
    return checks;
}

}  // namespace glmchat::test
