#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/model_options.h"
#include "app/cli/output.h"
#include "engine/generate/scheduler.h"

namespace glmchat::cli {
namespace {

struct GenerateOptions {
    ModelOptions model;
    SamplingOptions sampling;
    std::string ids;
    bool greedy = false;
    bool ignore_eos = false;
    bool json = false;
};

/// Runs one request on the calling thread. @return the new ids
Result<std::vector<std::int32_t>> run_request(Scheduler& scheduler, GenerationRequest request) {
    std::optional<Result<std::vector<std::int32_t>>> outcome;
    request.on_event = [&outcome](const GenerationEvent& event) {
        if (const auto* finished = std::get_if<FinishedEvent>(&event.what)) outcome = finished->new_ids;
        if (const auto* failed = std::get_if<FailedEvent>(&event.what))
            outcome = tl::unexpected(failed->status);
    };
    if (auto queued = scheduler.submit(std::move(request)); !queued) return tl::unexpected(queued.error());
    install_interrupt_handler();
    while (!outcome) {
        scheduler.step();
        if (take_interrupt()) scheduler.cancel_all();
    }
    return *outcome;
}

int generate(const GenerateOptions& options) {
    auto ids = parse_ids(options.ids == "-" ? read_standard_input() : options.ids);
    if (!ids) return report(ids.error());
    auto model = load_model(options.model);
    if (!model) return report(model.error());
    SchedulerOptions scheduler_options;
    scheduler_options.context_size = options.model.context_size;
    const std::int32_t eos_token_id = (*model)->config().eos_token_id;
    auto scheduler = Scheduler::create(std::move(*model), scheduler_options);
    if (!scheduler) return report(scheduler.error());

    GenerationRequest request;
    request.generation_id = 1;
    request.prompt_ids = *ids;
    request.sampling = options.sampling.params;
    if (options.greedy) request.sampling.temperature = 0;
    request.sampling.seed = options.sampling.seed < 0 ? 0 : static_cast<std::uint64_t>(options.sampling.seed);
    request.max_new_tokens = options.sampling.max_new_tokens;
    if (!options.ignore_eos) request.stop_token_ids = {eos_token_id};
    const auto new_ids = run_request(**scheduler, std::move(request));
    if (!new_ids) return report(new_ids.error());
    if (options.json) {
        write_out(nlohmann::json{{"ids", *new_ids}}.dump() + "\n");
    } else {
        write_out(fmt::format("{}\n", fmt::join(*new_ids, ",")));
    }
    return kExitOk;
}

}  // namespace

void add_generate_command(CLI::App& program, int& exit_code) {
    auto options = std::make_shared<GenerateOptions>();
    CLI::App* command =
        program.add_subcommand("generate", "Continue token ids (needs config.json and the weights)");
    add_engine_options(*command, options->model);
    command->add_option("--ids", options->ids, "1,2,3 or - for standard input")->required();
    command->add_flag("--greedy", options->greedy, "Always the most probable token");
    command->add_option("-n", options->sampling.max_new_tokens, "New tokens")->check(CLI::Range(1, 1 << 20));
    command->add_option("--temperature", options->sampling.params.temperature)->capture_default_str();
    command->add_option("--top-p", options->sampling.params.top_p)->capture_default_str();
    command->add_option("--top-k", options->sampling.params.top_k)->capture_default_str();
    command->add_option("--seed", options->sampling.seed, "Seed of the draws (default 0)");
    command->add_flag("--ignore-eos", options->ignore_eos, "Go on after the end-of-sequence token");
    command->add_flag("--json", options->json, "Print {\"ids\":[...]}");
    command->callback([options, &exit_code] { exit_code = generate(*options); });
}

}  // namespace glmchat::cli
