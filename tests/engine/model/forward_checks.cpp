#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

#include "tests/engine/model/model_case.h"
#include "tests/engine/model/model_checks.h"
#include "tests/engine/model/model_runner.h"
#include <fmt/format.h>

namespace glmchat::test {
namespace {

// The conformance kit's rule for float32 paths: max|difference| <= 1e-4 * std of what is compared.
constexpr double kTolerance = 1e-4;

struct BackendRow {
    std::string name;
    std::function<std::unique_ptr<kernels::Backend>()> make;
};

const std::vector<BackendRow> kBackends = {
    {"reference", [] { return kernels::make_reference_backend(); }},
    {"cpu-1-thread", [] { return kernels::make_cpu_backend(1); }},
    {"cpu-2-threads", [] { return kernels::make_cpu_backend(2); }},
};

double deviation(const std::vector<double>& values) {
    double sum = 0;
    double sum_of_squares = 0;
    for (const double value : values) {
        sum += value;
        sum_of_squares += value * value;
    }
    const auto count = static_cast<double>(values.size());
    return std::sqrt(std::max(0.0, sum_of_squares / count - (sum / count) * (sum / count)));
}

/// The worst differences seen so far, in units of the standard deviation of what was compared.
struct Figures {
    double logits = 0;
    double hidden_states = 0;
    double absolute_logits = 0;
    std::size_t greedy_equal = 0;
    std::size_t greedy_compared = 0;
    std::size_t greedy_given = 0;
    std::string first_failure;

    void fail(const std::string& why) {
        if (first_failure.empty()) first_failure = why;
    }
};

double max_difference(std::span<const float> found, std::span<const double> expected) {
    double worst = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double difference = std::fabs(double{found[i]} - expected[i]);
        worst = difference <= worst ? worst : difference;  // a NaN becomes the worst and stays it
    }
    return worst;
}

/// @param found  logits of the last positions, as many as are expected
void compare_logits(std::span<const float> found, const NpyArray& expected, const std::string& what,
                    Figures& figures) {
    if (found.size() < expected.values.size()) {
        figures.fail(
            fmt::format("{}: {} logits where {} are expected", what, found.size(), expected.values.size()));
        return;
    }
    const double difference = max_difference(found.last(expected.values.size()), expected.values);
    const double relative = difference / deviation(expected.values);
    figures.logits = std::max(figures.logits, relative);
    figures.absolute_logits = std::max(figures.absolute_logits, difference);
    if (!(relative <= kTolerance))
        figures.fail(fmt::format("{}: logits differ by {:.2e} std", what, relative));
}

void compare_top_logits(std::span<const float> found, const PromptCase& prompt, std::size_t vocab_size,
                        Figures& figures) {
    for (std::size_t position = 0; position < prompt.top_ids.size(); ++position) {
        for (std::size_t i = 0; i < prompt.top_ids[position].size(); ++i) {
            const auto id = static_cast<std::size_t>(prompt.top_ids[position][i]);
            const double difference =
                std::fabs(double{found[position * vocab_size + id]} - prompt.top_logits[position][i]);
            // The kit rounds these to five decimals; its logits deviate by about 4.
            if (!(difference <= 4 * kTolerance)) figures.fail(fmt::format("top logit of id {} is off", id));
        }
    }
}

ForwardOptions comparing_hidden_states(const NpyArray& expected, Figures& figures) {
    ForwardOptions options;
    options.on_hidden_states = [&](std::int32_t layer, std::span<const float> hidden_states) {
        const auto first =
            expected.values.begin() + layer * static_cast<std::ptrdiff_t>(hidden_states.size());
        const std::vector<double> values(first, first + static_cast<std::ptrdiff_t>(hidden_states.size()));
        const double relative = max_difference(hidden_states, values) / deviation(values);
        figures.hidden_states = std::max(figures.hidden_states, relative);
        if (!(relative <= kTolerance)) {
            figures.fail(fmt::format("hidden states of layer {} differ by {:.2e} std", layer, relative));
        }
    };
    return options;
}

/// Equal up to the first step whose margin is below twice the logit error; a tie there may go either way.
void compare_greedy(const std::vector<std::int32_t>& found, const std::vector<std::int32_t>& expected,
                    const std::vector<double>& margins, Figures& figures) {
    figures.greedy_given += expected.size();
    for (std::size_t step = 0; step < expected.size(); ++step) {
        if (margins[step] < 2 * figures.absolute_logits) return;
        ++figures.greedy_compared;
        if (found[step] != expected[step]) {
            figures.fail(
                fmt::format("greedy token {} is {} instead of {}", step, found[step], expected[step]));
            return;
        }
        ++figures.greedy_equal;
    }
}

void check_single_prompts(LanguageModel& model, const ModelCase& model_case, Figures& figures) {
    const auto vocab_size = static_cast<std::size_t>(model.config().padded_vocab_size);
    for (const PromptCase& prompt : model_case.prompts) {
        const auto num_tokens = static_cast<std::int32_t>(prompt.input_ids.size());
        ModelRunner runner(model, 1, num_tokens + static_cast<std::int32_t>(prompt.greedy.size()));
        const ForwardOptions options =
            prompt.hidden_states ? comparing_hidden_states(*prompt.hidden_states, figures) : ForwardOptions{};
        const std::vector<float> logits = value_or_throw(runner.feed({{0, prompt.input_ids}}, options));
        compare_logits(logits, prompt.logits, "whole pass", figures);
        compare_top_logits(logits, prompt, vocab_size, figures);
        for (const std::int32_t chunk_tokens : {1, 3, 4, 7, num_tokens - 1}) {
            runner.clear(0);
            compare_logits(runner.prefill(0, prompt.input_ids, chunk_tokens), prompt.logits,
                           fmt::format("chunks of {}", chunk_tokens), figures);
        }
    }
    for (const PromptCase& prompt : model_case.prompts) {  // now the logit error is known
        const auto num_new = static_cast<std::int32_t>(prompt.greedy.size());
        ModelRunner runner(model, 1, static_cast<std::int32_t>(prompt.input_ids.size()) + num_new);
        compare_greedy(runner.generate_greedy(0, prompt.input_ids, num_new), prompt.greedy,
                       prompt.greedy_margins, figures);
    }
}

/// All prompts side by side in one ragged batch: each row as if it were alone.
void check_ragged_batch(LanguageModel& model, const ModelCase& model_case, Figures& figures) {
    std::vector<ModelRunner::Input> inputs;
    std::size_t longest = 0;
    for (const PromptCase& prompt : model_case.prompts) {
        inputs.push_back({static_cast<std::int32_t>(inputs.size()), prompt.input_ids});
        longest = std::max(longest, prompt.input_ids.size());
    }
    std::reverse(inputs.begin(), inputs.end());  // the order in a batch is free
    ModelRunner runner(model, static_cast<std::int32_t>(inputs.size()), static_cast<std::int32_t>(longest));
    const std::vector<float> logits = value_or_throw(runner.feed(inputs));
    const auto vocab_size = static_cast<std::size_t>(model.config().padded_vocab_size);
    std::span<const float> rest(logits);
    for (const ModelRunner::Input& input : inputs) {
        const std::size_t count = input.ids.size() * vocab_size;
        compare_logits(rest.first(count), model_case.prompts[static_cast<std::size_t>(input.sequence)].logits,
                       "ragged batch", figures);
        rest = rest.subspan(count);
    }
}

/// The reference's left-padded batch, run ragged without padding: prefill, then decode steps of all rows
/// together.
void check_reference_batch(LanguageModel& model, const BatchCase& batch, Figures& figures) {
    const auto num_rows = static_cast<std::int32_t>(batch.rows.size());
    const auto vocab_size = static_cast<std::size_t>(model.config().padded_vocab_size);
    std::size_t longest = 0;
    for (const std::vector<std::int32_t>& row : batch.rows) longest = std::max(longest, row.size());
    ModelRunner runner(model, num_rows, static_cast<std::int32_t>(longest + batch.greedy.front().size()));

    std::vector<std::vector<std::int32_t>> fed = batch.rows;
    for (std::size_t step = 0; step < batch.greedy.front().size(); ++step) {
        std::vector<ModelRunner::Input> inputs;
        for (std::int32_t row = 0; row < num_rows; ++row) {
            inputs.push_back({row, fed[static_cast<std::size_t>(row)]});
        }
        const std::vector<float> logits = value_or_throw(runner.feed(inputs));
        std::size_t end = 0;
        for (std::size_t row = 0; row < fed.size(); ++row) {
            end += fed[row].size() * vocab_size;
            const auto last = std::span<const float>(logits).subspan(end - vocab_size, vocab_size);
            if (step == 0) {
                const auto first =
                    batch.last_logits.values.begin() + static_cast<std::ptrdiff_t>(row * vocab_size);
                const NpyArray expected{{}, {first, first + static_cast<std::ptrdiff_t>(vocab_size)}};
                compare_logits(last, expected, "reference batch", figures);
            }
            const std::int32_t found = last_argmax(last, model.config().padded_vocab_size);
            if (found != batch.greedy[row][step])
                figures.fail(fmt::format("batch row {} step {}", row, step));
            fed[row] = {found};
        }
    }
}

CheckResult check_checkpoint(const ModelCase& model_case, const std::filesystem::path& checkpoint,
                             const BackendRow& backend) {
    const bool is_prefix = !model_case.base_checkpoint.empty();
    ModelLoadOptions options;
    if (is_prefix) options.prefix_folder = checkpoint;
    const std::unique_ptr<LanguageModel> model = value_or_throw(
        load_language_model(is_prefix ? model_case.base_checkpoint : checkpoint, backend.make(), options));

    Figures figures;
    check_single_prompts(*model, model_case, figures);
    check_ragged_batch(*model, model_case, figures);
    if (model_case.batch) check_reference_batch(*model, *model_case.batch, figures);

    const bool has_hidden_states = model_case.prompts.front().hidden_states.has_value();
    const std::string summary =
        fmt::format("worst logits {:.1e} std,{} greedy {}/{} of {}", figures.logits,
                    has_hidden_states ? fmt::format(" hidden {:.1e} std,", figures.hidden_states) : "",
                    figures.greedy_equal, figures.greedy_compared, figures.greedy_given);
    return figures.first_failure.empty() ? passed(summary) : failed(figures.first_failure + "; " + summary);
}

}  // namespace

std::vector<Check> forward_checks(const std::filesystem::path& root, const std::string& case_name) {
    const auto model_case = std::make_shared<const ModelCase>(read_model_case(root, case_name));
    std::vector<Check> checks;
    for (const std::filesystem::path& checkpoint : model_case->checkpoints) {
        for (const BackendRow& backend : kBackends) {
            checks.push_back(
                {fmt::format("{}/{}/{}", case_name, checkpoint.filename().string(), backend.name),
                 [model_case, checkpoint, &backend] {
                     return check_checkpoint(*model_case, checkpoint, backend);
                 }});
        }
    }
    return checks;
}

}  // namespace glmchat::test
