#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <set>

#include "tests/support/check.h"
#include "tests/support/conformance_kit.h"
#include "tests/support/npy.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/sampling/counter_random.h"
#include "engine/sampling/sampler.h"

namespace glmchat::test {
namespace {

using nlohmann::json;

SamplingParams all_off() {
    SamplingParams params;
    params.temperature = 1;
    params.top_p = 1;
    params.top_k = 0;
    return params;
}

SamplingParams params_from(const json& options) {
    SamplingParams params = all_off();
    params.temperature = options.value("temperature", 1.0F);
    params.top_p = options.value("top_p", 1.0F);
    params.top_k = options.value("top_k", 0);
    params.min_p = options.value("min_p", 0.0F);
    params.repetition_penalty = options.value("repetition_penalty", 1.0F);
    params.presence_penalty = options.value("presence_penalty", 0.0F);
    params.frequency_penalty = options.value("frequency_penalty", 0.0F);
    return params;
}

json read_json(const std::filesystem::path& path) {
    std::ifstream file(path);
    return json::parse(file);
}

using Probabilities = std::map<std::int32_t, double>;

Probabilities as_map(const std::vector<TokenCandidate>& kept) {
    Probabilities probabilities;
    for (const TokenCandidate& candidate : kept) probabilities[candidate.token_id] = candidate.probability;
    return probabilities;
}

bool close(double value, double expected) {
    return std::abs(value - expected) <= 1e-6 + 1e-4 * expected;
}

std::vector<double> sorted_values(const Probabilities& probabilities) {
    std::vector<double> values;
    for (const auto& [id, probability] : probabilities) values.push_back(probability);
    std::sort(values.rbegin(), values.rend());
    return values;
}

// --- golden distributions of our own ---

CheckResult check_golden(const json& test_case, const std::vector<float>& logits) {
    const auto prompt_ids = test_case.at("prompt_ids").get<std::vector<std::int32_t>>();
    const auto new_ids = test_case.at("new_ids").get<std::vector<std::int32_t>>();
    const auto kept =
        sampling_distribution(logits, params_from(test_case.at("options")), {prompt_ids, new_ids});
    if (!kept) return failed(kept.error().message);
    const Probabilities probabilities = as_map(*kept);
    const auto ids = test_case.at("ids").get<std::vector<std::int32_t>>();
    if (ids.size() != probabilities.size()) {
        return failed(fmt::format("kept {} tokens instead of {}", probabilities.size(), ids.size()));
    }
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const auto found = probabilities.find(ids[i]);
        if (found == probabilities.end()) return failed(fmt::format("id {} was cut", ids[i]));
        const double expected = test_case.at("probabilities")[i];
        if (!close(found->second, expected)) {
            return failed(fmt::format("id {}: {} instead of {}", ids[i], found->second, expected));
        }
    }
    return passed();
}

void add_golden(std::vector<Check>& checks) {
    const json golden = read_json(source_dir() / "tests/golden/sampling/sampling.json");
    for (const json& test_case : golden.at("cases")) {
        const auto logits =
            golden.at("logits").at(test_case.at("logits").get<std::string>()).get<std::vector<float>>();
        checks.push_back({"golden/" + test_case.at("name").get<std::string>(),
                          [test_case, logits] { return check_golden(test_case, logits); }});
    }
}

// --- the conformance kit ---

Probabilities expected_of(const json& test_case, const std::filesystem::path& folder) {
    Probabilities expected;
    if (test_case.contains("probs_npy")) {
        const NpyArray all = read_npy(folder / test_case.at("probs_npy").get<std::string>());
        for (std::size_t id = 0; id < all.values.size(); ++id) {
            if (all.values[id] > 0) expected[static_cast<std::int32_t>(id)] = all.values[id];
        }
        return expected;
    }
    const bool only_top = test_case.contains("top64_ids");
    const json& ids = test_case.at(only_top ? "top64_ids" : "ids");
    const json& probabilities = test_case.at(only_top ? "top64_probs" : "probs");
    for (std::size_t i = 0; i < ids.size(); ++i) expected[ids[i]] = probabilities[i];
    return expected;
}

/// "" or what differs.
std::string compare(const json& test_case, const Probabilities& probabilities,
                    const Probabilities& expected) {
    if (test_case.value("tie_at_boundary", false)) {  // which of the equals stay is unspecified
        const std::vector<double> left = sorted_values(probabilities);
        const std::vector<double> right = sorted_values(expected);
        for (std::size_t i = 0; i < right.size(); ++i) {
            if (!close(left.at(i), right[i]))
                return fmt::format("rank {}: {} instead of {}", i, left[i], right[i]);
        }
        return "";
    }
    for (const auto& [id, probability] : expected) {
        const auto found = probabilities.find(id);
        const double actual = found == probabilities.end() ? 0.0 : found->second;
        if (!close(actual, probability))
            return fmt::format("id {}: {} instead of {}", id, actual, probability);
    }
    return "";
}

CheckResult check_kit_case(const json& test_case, const std::filesystem::path& folder) {
    const std::vector<float> logits = read_npy(folder / test_case.at("logits").get<std::string>()).as_float();
    const json& options = test_case.at("options");
    const auto prompt_ids = options.value("input_ids", std::vector<std::int32_t>{});
    const auto kept = sampling_distribution(logits, params_from(options), {prompt_ids, {}});
    const bool finite = std::all_of(logits.begin(), logits.end(), [](float v) { return std::isfinite(v); });
    if (!finite) {  // the reference draws id 5 here; we say that the logits are bad
        if (!kept && kept.error().kind == StatusKind::kBadLogits) return passed("refused");
        return failed("NaN or Inf was not refused");
    }
    if (!kept) return failed(kept.error().message);

    const Probabilities probabilities = as_map(*kept);
    const std::string difference = compare(test_case, probabilities, expected_of(test_case, folder));
    if (!difference.empty()) return failed(difference);
    // Without a cut the reference's count only leaves out what underflows in float32.
    const bool cuts = options.value("top_k", 0) > 0 || options.value("top_p", 1.0) < 1;
    const auto nonzero = static_cast<std::size_t>(std::count_if(
        probabilities.begin(), probabilities.end(), [](const auto& entry) { return entry.second > 0; }));
    const std::size_t slack = test_case.value("top_p_boundary_margin", 1.0) < 1e-6 ? 1 : 0;
    const auto expected = test_case.at("nonzero").get<std::size_t>();
    if (cuts && (nonzero > expected + slack || nonzero + slack < expected)) {
        return failed(fmt::format("kept {} tokens instead of {}", nonzero, expected));
    }
    return passed();
}

void add_kit(std::vector<Check>& checks) {
    const auto kit = conformance_kit();
    if (!kit) {
        checks.push_back({"kit/sampling", [] { return skipped(kKitMissing); }});
        return;
    }
    const std::filesystem::path folder = *kit / "sampling";
    const json cases = read_json(folder / "sampling.json").at("cases");
    for (const json& test_case : cases) {
        checks.push_back({"kit/" + test_case.at("name").get<std::string>(),
                          [test_case, folder] { return check_kit_case(test_case, folder); }});
    }
}

// --- drawing ---

CheckResult drawing_follows_the_distribution() {
    const std::vector<float> logits = {0.0F, 1.0F, 2.0F, -1.0F, 1.5F};
    const SamplingParams params = all_off();
    const auto expected = sampling_distribution(logits, params, {});
    constexpr int kDraws = 200000;
    std::map<std::int32_t, int> counts;
    for (int step = 0; step < kDraws; ++step) {
        ++counts[sample_token(logits, params, {}, static_cast<std::uint64_t>(step))->token_id];
    }
    for (const TokenCandidate& candidate : *expected) {
        const double share = counts[candidate.token_id] / static_cast<double>(kDraws);
        const double sigma = std::sqrt(candidate.probability * (1 - candidate.probability) / kDraws);
        if (std::abs(share - candidate.probability) > 5 * sigma) {
            return failed(fmt::format("id {}: drawn {} of the time, probability {}", candidate.token_id,
                                      share, candidate.probability));
        }
    }
    return passed();
}

CheckResult draw_agrees_with_its_uniform() {
    std::vector<float> logits(1000);
    for (std::size_t i = 0; i < logits.size(); ++i) logits[i] = std::sin(static_cast<float>(i) * 1.7F) * 4;
    SamplingParams params = all_off();
    params.seed = 7;
    const auto kept = sampling_distribution(logits, params, {});
    for (std::uint64_t step = 0; step < 500; ++step) {
        const auto token = sample_token(logits, params, {}, step);
        double before = 0;
        for (std::int32_t rank = 0; rank < token->rank; ++rank)
            before += (*kept)[static_cast<std::size_t>(rank)].probability;
        const TokenCandidate& drawn = (*kept)[static_cast<std::size_t>(token->rank)];
        const double uniform = token->uniform;
        if (drawn.token_id != token->token_id) return failed("rank and token id disagree");
        if (uniform < before - 1e-5 || uniform > before + drawn.probability + 1e-5) {
            return failed(fmt::format("step {}: {} is not in [{}, {}]", step, uniform, before,
                                      before + drawn.probability));
        }
    }
    return passed();
}

CheckResult same_seed_and_step_give_the_same_number() {
    std::set<float> seen;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
        for (std::uint64_t step = 0; step < 100; ++step) {
            const float uniform = counter_uniform(seed, step);
            if (uniform != counter_uniform(seed, step)) return failed("not a function of seed and step");
            if (!(uniform >= 0 && uniform < 1)) return failed("out of [0, 1)");
            seen.insert(uniform);
        }
    }
    // 10^4 draws from 2^24 values collide about three times.
    if (seen.size() < 9985) return failed(fmt::format("only {} different numbers in 10000", seen.size()));
    // Pinned, so that an answer can be made again with its seed after an update.
    const float pinned = counter_uniform(42, 3);
    if (pinned != 0x1.13e5dp-4F) return failed(fmt::format("seed 42, step 3 gives {:a}", pinned));
    return passed();
}

CheckResult greedy_takes_the_lower_id_of_equals() {
    const std::vector<float> logits = {1, 5, 2, 5, 5};
    SamplingParams params = all_off();
    params.temperature = 0;
    const auto token = sample_token(logits, params, {}, 0, 3);
    if (token->token_id != 1 || token->rank != 0 || token->uniform != 0) return failed("not id 1 at rank 0");
    const auto& shown = token->candidates;
    if (shown.size() != 3 || shown[0].probability != 1 || shown[1].token_id != 3 ||
        shown[1].probability != 0) {
        return failed("candidates are not 1, 3, 4 with probabilities 1, 0, 0");
    }
    return passed();
}

CheckResult candidates_include_what_was_cut() {
    const std::vector<float> logits = {0, 3, 1, 2};
    SamplingParams params = all_off();
    params.top_k = 2;
    const auto token = sample_token(logits, params, {}, 0, 10);
    const auto& shown = token->candidates;
    if (shown.size() != 4) return failed(fmt::format("{} candidates instead of 4", shown.size()));
    const std::int32_t order[] = {1, 3, 2, 0};
    for (std::size_t i = 0; i < 4; ++i) {
        if (shown[i].token_id != order[i] || shown[i].logit != logits[static_cast<std::size_t>(order[i])]) {
            return failed("wrong order or logit");
        }
        if ((shown[i].probability > 0) != (i < 2)) return failed("wrong probability");
    }
    return passed();
}

CheckResult logprob_is_of_the_raw_distribution() {
    const std::vector<float> logits = {0, 3, 1, 2};
    SamplingParams params = all_off();
    params.top_k = 1;
    params.temperature = 0.1F;
    const auto token = sample_token(logits, params, {}, 0);
    const double expected = 3 - std::log(std::exp(0.0) + std::exp(3.0) + std::exp(1.0) + std::exp(2.0));
    if (std::abs(static_cast<double>(token->logprob) - expected) > 1e-6)
        return failed(fmt::format("{}", token->logprob));
    return passed();
}

CheckResult extreme_scores_stay_numbers() {
    const std::vector<float> logits = {3e38F, -3e38F, 3e38F, 0};
    SamplingParams params = all_off();
    params.temperature = 1e-4F;
    const auto kept = sampling_distribution(logits, params, {});
    if (!kept || kept->size() != 4 || (*kept)[0].probability != 0.5F)
        return failed("not one half each for the two largest");
    params.repetition_penalty = 10;
    const std::vector<std::int32_t> history = {1};
    const auto overflow = sampling_distribution(logits, params, {history, {}});
    if (overflow || overflow.error().kind != StatusKind::kBadLogits)
        return failed("overflow by a penalty was not refused");
    return passed();
}

CheckResult history_outside_the_vocabulary_is_passed_over() {
    const std::vector<float> logits = {1, 2};
    SamplingParams params = all_off();
    params.repetition_penalty = 2;
    params.presence_penalty = 1;
    const std::vector<std::int32_t> outside = {-1, 2, std::numeric_limits<std::int32_t>::max(),
                                               std::numeric_limits<std::int32_t>::min()};
    const auto kept = sampling_distribution(logits, params, {outside, outside});
    const auto plain = sampling_distribution(logits, all_off(), {});
    if (as_map(*kept) != as_map(*plain)) return failed("ids outside the vocabulary changed the distribution");
    return passed();
}

CheckResult every_bad_logit_is_refused(float bad) {
    for (std::size_t at = 0; at < 65; ++at) {
        std::vector<float> logits(65, 0.5F);
        logits[at] = bad;
        for (const float temperature : {0.0F, 0.8F}) {
            SamplingParams params;
            params.temperature = temperature;
            const auto token = sample_token(logits, params, {}, 0);
            if (token || token.error().kind != StatusKind::kBadLogits)
                return failed(fmt::format("missed at {}", at));
        }
    }
    return passed();
}

// --- validation ---

struct ValidationRow {
    const char* name;
    void (*set)(SamplingParams&);
    bool valid;
};

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

const ValidationRow kValidation[] = {
    {"temperature", [](SamplingParams&) {}, true},
    {"temperature", [](SamplingParams& p) { p.temperature = 0; }, true},
    {"temperature", [](SamplingParams& p) { p.temperature = -0.1F; }, false},
    {"temperature", [](SamplingParams& p) { p.temperature = kNaN; }, false},
    {"temperature", [](SamplingParams& p) { p.temperature = kInfinity; }, false},
    {"top_p", [](SamplingParams& p) { p.top_p = 0; }, true},
    {"top_p", [](SamplingParams& p) { p.top_p = 1.01F; }, false},
    {"top_p", [](SamplingParams& p) { p.top_p = kNaN; }, false},
    {"min_p", [](SamplingParams& p) { p.min_p = 1; }, true},
    {"min_p", [](SamplingParams& p) { p.min_p = -1; }, false},
    {"top_k", [](SamplingParams& p) { p.top_k = 0; }, true},
    {"top_k", [](SamplingParams& p) { p.top_k = -1; }, false},
    {"repetition_penalty", [](SamplingParams& p) { p.repetition_penalty = 0; }, false},
    {"repetition_penalty", [](SamplingParams& p) { p.repetition_penalty = kInfinity; }, false},
    {"presence_penalty", [](SamplingParams& p) { p.presence_penalty = -2; }, true},
    {"presence_penalty", [](SamplingParams& p) { p.presence_penalty = kNaN; }, false},
    {"frequency_penalty", [](SamplingParams& p) { p.frequency_penalty = -kInfinity; }, false},
};

CheckResult check_validation(const ValidationRow& row) {
    SamplingParams params;
    row.set(params);
    const Result<void> result = validate(params);
    if (result.has_value() != row.valid) return failed(row.valid ? result.error().message : "was accepted");
    if (!row.valid && result.error().message.find(row.name) == std::string::npos)
        return failed("message lacks the name");
    return passed();
}

}  // namespace

std::vector<Check> all_checks() {
    std::vector<Check> checks;
    add_golden(checks);
    add_kit(checks);
    checks.push_back({"draw/frequencies", drawing_follows_the_distribution});
    checks.push_back({"draw/inverse_of_the_running_sum", draw_agrees_with_its_uniform});
    checks.push_back({"draw/counter_random", same_seed_and_step_give_the_same_number});
    checks.push_back({"draw/greedy_ties", greedy_takes_the_lower_id_of_equals});
    checks.push_back({"draw/candidates", candidates_include_what_was_cut});
    checks.push_back({"draw/logprob", logprob_is_of_the_raw_distribution});
    checks.push_back({"robust/extreme_scores", extreme_scores_stay_numbers});
    checks.push_back({"robust/history", history_outside_the_vocabulary_is_passed_over});
    checks.push_back({"robust/nan", [] { return every_bad_logit_is_refused(kNaN); }});
    checks.push_back({"robust/inf", [] { return every_bad_logit_is_refused(kInfinity); }});
    checks.push_back({"robust/minus_inf", [] { return every_bad_logit_is_refused(-kInfinity); }});
    int number = 0;
    for (const ValidationRow& row : kValidation) {
        checks.push_back(
            {fmt::format("validate/{}_{}", row.name, number++), [&row] { return check_validation(row); }});
    }
    return checks;
}

}  // namespace glmchat::test
