#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/model_options.h"
#include "app/cli/output.h"
#include "engine/quantize/quantize_checkpoint.h"

namespace glmchat::cli {
namespace {

struct QuantizeOptions {
    ModelOptions model;
    std::string precision;
    std::string out;
    bool json = false;
};

int quantize(const QuantizeOptions& options) {
    auto source = resolve_model_folder(options.model);
    if (!source) return report(source.error());
    const Precision precision = parse_precision(options.precision).value_or(Precision::kAuto);
    Result<std::size_t> bytes = [&] {
        ProgressLine progress("Quantising");
        return quantize_checkpoint(*source, options.out, precision,
                                   [&progress](float fraction) { progress.show(fraction); });
    }();
    if (!bytes) return report(bytes.error());
    if (options.json)
        write_out(nlohmann::json{{"folder", options.out}, {"bytes", *bytes}}.dump() + "\n");
    else
        fmt::print(stderr, "{}: {:.1f} MB of weights\n", options.out, static_cast<double>(*bytes) / 1e6);
    return kExitOk;
}

}  // namespace

void add_quantize_command(CLI::App& program, int& exit_code) {
    auto options = std::make_shared<QuantizeOptions>();
    CLI::App* command =
        program.add_subcommand("quantize", "Write a model folder in the official INT8 or INT4 layout");
    add_model_option(*command, options->model);
    command->add_option("--precision", options->precision, "int4 or int8")
        ->required()
        ->check(CLI::IsMember({"int4", "int8"}));
    command->add_option("--out", options->out, "Folder to make")->required();
    command->add_flag("--json", options->json, "Print {\"folder\",\"bytes\"}");
    command->callback([options, &exit_code] { exit_code = quantize(*options); });
}

}  // namespace glmchat::cli
