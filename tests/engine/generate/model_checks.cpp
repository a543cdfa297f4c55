#include <algorithm>
#include <filesystem>
#include <map>

#include "tests/engine/model/model_case.h"
#include "tests/support/check.h"
#include "tests/support/conformance_kit.h"
#include <fmt/format.h>

#include "engine/generate/scheduler.h"

namespace glmchat::test {
namespace {

using Ids = std::vector<std::int32_t>;
/// Below this difference between the best two logits a float32 pass may order them either way.
constexpr double kSafeMargin = 1e-3;

using MakeBackend = std::unique_ptr<kernels::Backend> (*)();
struct BackendRow {
    const char* name;
    MakeBackend make;
};
const BackendRow kBackends[] = {
    {"reference", [] { return kernels::make_reference_backend(); }},
    {"cpu", [] { return kernels::make_cpu_backend(2); }},
};

std::unique_ptr<Scheduler> open(const ModelCase& model_case, const BackendRow& backend) {
    ModelLoadOptions load;
    load.precision = Precision::kFloat32;
    const bool has_base = !model_case.base_checkpoint.empty();
    if (has_base) load.prefix_folder = model_case.checkpoints.front();
    const std::filesystem::path folder =
        has_base ? model_case.base_checkpoint : model_case.checkpoints.front();
    auto model = load_language_model(folder, backend.make(), load);
    if (!model) throw std::runtime_error(model.error().message);
    SchedulerOptions options;
    options.block_size = 4;
    options.prefill_chunk_tokens = 7;
    auto scheduler = Scheduler::create(std::move(*model), options);
    if (!scheduler) throw std::runtime_error(scheduler.error().message);
    return std::move(*scheduler);
}

/// Answers of several greedy requests that run at once, in their order.
std::vector<FinishedEvent> run_together(Scheduler& scheduler, const std::vector<Ids>& prompts,
                                        const std::vector<std::size_t>& num_new) {
    std::map<std::uint64_t, FinishedEvent> answers;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
        GenerationRequest request;
        request.generation_id = i;
        request.prompt_ids = prompts[i];
        request.max_new_tokens = static_cast<std::int32_t>(num_new[i]);
        request.sampling.temperature = 0;
        request.on_event = [&answers](const GenerationEvent& event) {
            if (const auto* failed = std::get_if<FailedEvent>(&event.what))
                throw std::runtime_error(failed->status.message);
            if (const auto* end = std::get_if<FinishedEvent>(&event.what))
                answers[event.generation_id] = *end;
        };
        if (auto submitted = scheduler.submit(std::move(request)); !submitted) {
            throw std::runtime_error(submitted.error().message);
        }
    }
    while (scheduler.step()) {
    }
    std::vector<FinishedEvent> in_order;
    for (std::size_t i = 0; i < prompts.size(); ++i) in_order.push_back(answers.at(i));
    return in_order;
}

/// Number of greedy tokens that must agree: those before the first unsafe margin.
std::size_t num_comparable(const PromptCase& prompt) {
    const auto unsafe =
        std::ranges::find_if(prompt.greedy_margins, [](double margin) { return margin < kSafeMargin; });
    return static_cast<std::size_t>(unsafe - prompt.greedy_margins.begin());
}

bool agree(const Ids& found, const Ids& expected, std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i + first < count && i < found.size(); ++i) {
        if (found[i] != expected[first + i]) return false;
    }
    return true;
}

/// All prompts of a case at once, then each answer continued as a second round that finds the first in the
/// cache.
CheckResult two_rounds_together(const ModelCase& model_case, const BackendRow& backend) {
    const std::unique_ptr<Scheduler> scheduler = open(model_case, backend);
    const auto context = static_cast<std::size_t>(scheduler->info().context_size);
    std::vector<Ids> prompts;
    std::vector<Ids> continued;
    std::vector<std::size_t> num_first;
    std::vector<std::size_t> num_second;
    std::vector<const PromptCase*> cases;
    for (const PromptCase& prompt : model_case.prompts) {
        if (prompt.input_ids.size() + prompt.greedy.size() > context) continue;
        const std::size_t half = prompt.greedy.size() / 2;
        cases.push_back(&prompt);
        prompts.push_back(prompt.input_ids);
        num_first.push_back(half);
        continued.push_back(prompt.input_ids);
        continued.back().insert(continued.back().end(), prompt.greedy.begin(),
                                prompt.greedy.begin() + static_cast<std::ptrdiff_t>(half));
        num_second.push_back(prompt.greedy.size() - half);
    }
    const std::vector<FinishedEvent> first = run_together(*scheduler, prompts, num_first);
    const std::vector<FinishedEvent> second = run_together(*scheduler, continued, num_second);
    std::size_t num_compared = 0;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const std::size_t comparable = num_comparable(*cases[i]);
        num_compared += comparable;
        if (!agree(first[i].new_ids, cases[i]->greedy, 0, comparable))
            return failed(fmt::format("prompt {} differs", i));
        if (!agree(second[i].new_ids, cases[i]->greedy, num_first[i], comparable)) {
            return failed(fmt::format("prompt {} differs in its second round", i));
        }
        if (comparable >= num_first[i] && second[i].stats.num_prefill_tokens > 1 + 4) {
            return failed(
                fmt::format("prompt {} computed {} tokens again", i, second[i].stats.num_prefill_tokens));
        }
    }
    return passed(fmt::format("{} prompts, {} tokens", cases.size(), num_compared));
}

void add_cases(std::vector<Check>& checks, const std::filesystem::path& root, const std::string& group,
               const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        for (const BackendRow& backend : kBackends) {
            checks.push_back({fmt::format("{}/{}_{}", group, name, backend.name), [root, name, &backend] {
                                  return two_rounds_together(read_model_case(root, name), backend);
                              }});
        }
    }
}

}  // namespace

std::vector<Check> all_checks() {
    std::vector<Check> checks;
    add_cases(checks, source_dir() / "tests/golden", "golden",
              {"plain-fp16", "plain-bf16", "prefix", "prefix-projection", "long-context", "official-int8",
               "official-int4"});
    if (const auto kit = conformance_kit()) {
        add_cases(checks, *kit, "kit",
                  {"chatglm2-tiny", "chatglm2-tiny-ptuning", "chatglm2-tiny-int4", "chatglm2-tiny-int8"});
    } else {
        checks.push_back({"kit/models", [] { return skipped(kKitMissing); }});
    }
    return checks;
}

}  // namespace glmchat::test
