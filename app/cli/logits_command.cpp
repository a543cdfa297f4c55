#include <memory>

#include "app/cli/commands.h"
#include "app/cli/model_options.h"
#include "app/cli/npy_writer.h"
#include "app/cli/output.h"
#include "engine/evaluate/evaluate.h"

namespace glmchat::cli {
namespace {

struct LogitsOptions {
    ModelOptions model;
    std::string ids;
    std::string out;
};

int logits(const LogitsOptions& options) {
    auto ids = parse_ids(options.ids == "-" ? read_standard_input() : options.ids);
    if (!ids) return report(ids.error());
    auto model = load_model(options.model);
    if (!model) return report(model.error());
    ProgressLine progress("Reading");
    EvaluateOptions evaluate_options;
    evaluate_options.on_progress = [&progress](std::int32_t done, std::int32_t total) {
        progress.show(static_cast<float>(done) / static_cast<float>(total));
    };
    auto values = evaluate_logits(**model, *ids, evaluate_options);
    if (!values) return report(values.error());
    const auto written = write_npy(options.out, *values, static_cast<std::int64_t>(ids->size()),
                                   (*model)->config().padded_vocab_size);
    return written ? kExitOk : report(written.error());
}

}  // namespace

void add_logits_command(CLI::App& program, int& exit_code) {
    auto options = std::make_shared<LogitsOptions>();
    CLI::App* command =
        program.add_subcommand("logits", "Logits of every position (needs config.json and the weights)");
    add_engine_options(*command, options->model);
    command->add_option("--ids", options->ids, "1,2,3 or - for standard input")->required();
    command->add_option("--out", options->out, "NumPy file to write: float32 [number of ids, vocabulary]")
        ->required();
    command->callback([options, &exit_code] { exit_code = logits(*options); });
}

}  // namespace glmchat::cli
