#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include "app/cli/commands.h"
#include "app/cli/model_options.h"
#include "app/cli/output.h"
#include "engine/generate/scheduler.h"
#include "engine/model/memory_estimate.h"
#include "kernels/machine_probe.h"

namespace glmchat::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct BenchOptions {
    ModelOptions model;
    std::string synthetic;
    std::int32_t num_layers = 0;
    std::int32_t num_prompt_tokens = 512;
    std::int32_t num_new_tokens = 64;
    std::int32_t depth = 0;
    std::int32_t num_repeats = 5;
    bool json = false;
};

/// One repeat: the machine's limit and both speeds, measured right after one another.
struct BenchSample {
    double read_bandwidth = 0;  ///< bytes per second
    double prefill_rate = 0;    ///< tokens per second
    double decode_rate = 0;     ///< tokens per second
};

double seconds_of(std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
}

/// Ids that are not special in any vocabulary; which ones does not matter for speed.
std::vector<std::int32_t> prompt_of(std::int32_t length, const ModelConfig& config) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(length));
    const std::int32_t num_usable = config.padded_vocab_size / 2;
    for (std::int32_t i = 0; i < length; ++i) {
        ids[static_cast<std::size_t>(i)] =
            3 + static_cast<std::int32_t>(std::int64_t{i} * 7919 % (num_usable - 3));
    }
    return ids;
}

Result<GenerationStats> run(Scheduler& scheduler, std::int32_t num_prompt_tokens,
                            std::int32_t num_new_tokens) {
    scheduler.clear_cache();
    std::optional<Result<GenerationStats>> outcome;
    GenerationRequest request;
    request.generation_id = 1;
    request.prompt_ids = prompt_of(num_prompt_tokens, scheduler.config());
    request.sampling.temperature = 0;
    request.max_new_tokens = num_new_tokens;
    request.reuse_prefix = false;
    request.on_event = [&outcome](const GenerationEvent& event) {
        if (const auto* finished = std::get_if<FinishedEvent>(&event.what)) outcome = finished->stats;
        if (const auto* failed = std::get_if<FailedEvent>(&event.what))
            outcome = tl::unexpected(failed->status);
    };
    if (auto queued = scheduler.submit(std::move(request)); !queued) return tl::unexpected(queued.error());
    while (!outcome) scheduler.step();
    return *outcome;
}

Result<BenchSample> measure(Scheduler& scheduler, const BenchOptions& options, int num_threads) {
    BenchSample sample;
    sample.read_bandwidth = kernels::measure_read_bandwidth(num_threads);
    if (options.num_prompt_tokens > 0) {
        auto stats = run(scheduler, options.num_prompt_tokens, 1);
        if (!stats) return tl::unexpected(stats.error());
        sample.prefill_rate = options.num_prompt_tokens / seconds_of(stats->prefill_time);
    }
    if (options.num_new_tokens > 0) {
        // The first token belongs to the prefill; the rest are decode steps at depth, depth + 1, …
        auto stats = run(scheduler, std::max(options.depth, 1), options.num_new_tokens + 1);
        if (!stats) return tl::unexpected(stats.error());
        sample.decode_rate = (stats->num_new_tokens - 1) / seconds_of(stats->decode_time);
    }
    return sample;
}

struct Spread {
    double min = 0;
    double median = 0;
    double max = 0;
};

Spread spread_of(const std::vector<BenchSample>& samples, double BenchSample::*member, double scale = 1.0) {
    std::vector<double> values;
    for (const BenchSample& sample : samples) values.push_back(sample.*member * scale);
    std::sort(values.begin(), values.end());
    return {values.front(), values[values.size() / 2], values.back()};
}

nlohmann::json to_json(const Spread& spread) {
    return {{"min", spread.min}, {"median", spread.median}, {"max", spread.max}};
}

std::size_t peak_rss_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<std::size_t>(usage.ru_maxrss) * 1024;  // Linux reports KiB
}

/// Bytes one decode step reads: all weights but the embedding table (one row of it), and the keys and values
/// at `depth`.
std::size_t decode_bytes_per_token(const LanguageModel& model, std::int32_t depth) {
    const ModelConfig& config = model.config();
    const bool is_float32 = model.precision() == Precision::kFloat32;
    const auto type = is_float32 ? kernels::ElementType::kFloat32 : kernels::ElementType::kFloat16;
    const std::size_t embedding_bytes =
        kernels::element_bytes(type, std::int64_t{config.padded_vocab_size} * config.hidden_size);
    return model.weight_bytes() - embedding_bytes +
           kv_bytes_per_token(config, type) * static_cast<std::size_t>(depth);
}

Result<std::unique_ptr<LanguageModel>> open_model(const BenchOptions& options) {
    if (options.synthetic.empty()) return load_model(options.model);
    auto device = open_device(*parse_device(options.model.device), options.model.num_threads);
    if (!device) return tl::unexpected(device.error());
    ProgressLine progress("Making weights");
    ModelLoadOptions load_options;
    load_options.precision = *parse_precision(options.model.precision);
    load_options.max_positions = options.model.context_size;
    load_options.on_progress = [&progress](float fraction) { progress.show(fraction); };
    return make_synthetic_model(options.synthetic, options.num_layers, std::move(device->backend),
                                load_options);
}

void print(const nlohmann::json& result) {
    const auto line = [&result](const char* label, const char* key, const char* unit) {
        const auto& spread = result.at(key);
        fmt::print("{:<22}{:>10.2f} {}   ({:.2f} … {:.2f})\n", label, spread.at("median").get<double>(), unit,
                   spread.at("min").get<double>(), spread.at("max").get<double>());
    };
    fmt::print("{}\n", result.at("device").get<std::string>());
    line("prefill", "prefill_tokens_per_s", "tokens/s");
    line("decode", "decode_tokens_per_s", "tokens/s");
    line("read bandwidth", "read_bandwidth_gb_s", "GB/s");
    fmt::print("{:<22}{:>10.1f} % of the read bandwidth\n", "decode reaches",
               result.at("decode_share").get<double>() * 100);
    fmt::print("{:<22}{:>10.2f} GB per token\n", "reads", result.at("bytes_per_token").get<double>() / 1e9);
    fmt::print("{:<22}{:>10.2f} GB\n", "peak memory", result.at("peak_rss_bytes").get<double>() / 1e9);
}

int bench(BenchOptions options) {
    options.model.context_size =
        std::max(options.num_prompt_tokens, options.depth) + options.num_new_tokens + 2;
    const auto load_start = Clock::now();
    auto model = open_model(options);
    if (!model) return report(model.error());
    const double load_seconds = std::chrono::duration<double>(Clock::now() - load_start).count();
    const std::string device = (*model)->backend().description();
    const std::string precision = precision_name((*model)->precision());
    const std::size_t bytes_per_token =
        decode_bytes_per_token(**model, options.depth + options.num_new_tokens / 2);

    SchedulerOptions scheduler_options;
    scheduler_options.context_size = options.model.context_size;
    auto scheduler = Scheduler::create(std::move(*model), scheduler_options);
    if (!scheduler) return report(scheduler.error());

    const int num_threads = options.model.num_threads > 0
                                ? options.model.num_threads
                                : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    std::vector<BenchSample> samples;
    for (std::int32_t repeat = 0; repeat < options.num_repeats; ++repeat) {
        auto sample = measure(**scheduler, options, num_threads);
        if (!sample) return report(sample.error());
        samples.push_back(*sample);
    }
    std::vector<double> shares;
    for (const BenchSample& sample : samples) {
        shares.push_back(sample.decode_rate * static_cast<double>(bytes_per_token) / sample.read_bandwidth);
    }
    std::sort(shares.begin(), shares.end());

    const nlohmann::json result = {
        {"device", device},
        {"precision", precision},
        {"prompt_tokens", options.num_prompt_tokens},
        {"new_tokens", options.num_new_tokens},
        {"depth", options.depth},
        {"repeats", options.num_repeats},
        {"prefill_tokens_per_s", to_json(spread_of(samples, &BenchSample::prefill_rate))},
        {"decode_tokens_per_s", to_json(spread_of(samples, &BenchSample::decode_rate))},
        {"read_bandwidth_gb_s", to_json(spread_of(samples, &BenchSample::read_bandwidth, 1e-9))},
        {"bytes_per_token", bytes_per_token},
        {"decode_share", shares[shares.size() / 2]},
        {"peak_rss_bytes", peak_rss_bytes()},
        {"load_seconds", load_seconds}};
    if (options.json)
        write_out(result.dump() + "\n");
    else
        print(result);
    return kExitOk;
}

}  // namespace

void add_bench_command(CLI::App& program, int& exit_code) {
    auto options = std::make_shared<BenchOptions>();
    CLI::App* command =
        program.add_subcommand("bench", "Measure prefill and decode speed beside the machine's own limit");
    add_engine_options(*command, options->model);
    command->remove_option(command->get_option("--ctx"));  // follows from the lengths below
    command->add_option("--synthetic", options->synthetic,
                        "Random weights of a true shape instead of a model: chatglm2-6b");
    command->add_option("--layers", options->num_layers, "Layers of the synthetic model (0 = all)")
        ->check(CLI::Range(0, 1000));
    command->add_option("-p", options->num_prompt_tokens, "Prompt tokens of the prefill")
        ->check(CLI::Range(1, 1 << 17))
        ->capture_default_str();
    command->add_option("-n", options->num_new_tokens, "Decode steps")
        ->check(CLI::Range(1, 1 << 17))
        ->capture_default_str();
    command->add_option("--depth", options->depth, "Tokens already in the cache when decoding")
        ->check(CLI::Range(0, 1 << 17))
        ->capture_default_str();
    command->add_option("--repeat", options->num_repeats, "Repeats; the median is reported")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    command->add_flag("--json", options->json, "Print one JSON object");
    command->callback([options, &exit_code] { exit_code = bench(*options); });
}

}  // namespace glmchat::cli
