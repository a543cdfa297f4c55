#include "tests/engine/model/model_case.h"

#include <cstddef>
#include <fstream>

#include <nlohmann/json.hpp>

namespace glmchat::test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

PromptCase read_prompt(const json& prompt, const std::filesystem::path& expected_dir) {
    PromptCase result;
    result.input_ids = prompt.at("input_ids").get<Ids>();
    result.logits = read_npy(expected_dir / prompt.at("logits").get<std::string>());
    if (prompt.contains("hidden_states")) {
        result.hidden_states = read_npy(expected_dir / prompt.at("hidden_states").get<std::string>());
    }
    if (prompt.contains("top20_ids")) {
        result.top_ids = prompt.at("top20_ids").get<std::vector<Ids>>();
        result.top_logits = prompt.at("top20_logits").get<std::vector<std::vector<double>>>();
    }
    result.greedy = prompt.at("greedy").get<Ids>();
    result.greedy_margins = prompt.at("greedy_top1_margins").get<std::vector<double>>();
    return result;
}

BatchCase read_batch(const json& batch, const std::filesystem::path& expected_dir) {
    BatchCase result;
    const auto padded_rows = batch.at("input_ids").get<std::vector<Ids>>();
    const auto masks = batch.at("attention_mask").get<std::vector<Ids>>();
    for (std::size_t row = 0; row < padded_rows.size(); ++row) {
        Ids ids;
        for (std::size_t i = 0; i < padded_rows[row].size(); ++i) {
            if (masks[row][i] != 0) ids.push_back(padded_rows[row][i]);
        }
        result.rows.push_back(std::move(ids));
    }
    result.last_logits = read_npy(expected_dir / batch.at("last_logits").get<std::string>());
    result.greedy = batch.at("greedy8").get<std::vector<Ids>>();
    return result;
}

}  // namespace

ModelCase read_model_case(const std::filesystem::path& root, const std::string& name) {
    std::ifstream file(root / "models" / name / "case.json");
    const json description = json::parse(file);
    ModelCase result;
    result.name = name;
    for (const json& folder : description.at("checkpoints")) {
        result.checkpoints.push_back(root / folder.get<std::string>());
    }
    if (description.contains("base_checkpoint")) {
        result.base_checkpoint = root / description.at("base_checkpoint").get<std::string>();
    }
    result.expected_dir = root / description.at("expected_dir").get<std::string>();
    for (const json& prompt : description.at("prompts")) {
        result.prompts.push_back(read_prompt(prompt, result.expected_dir));
    }
    if (description.contains("batch_left_pad")) {
        result.batch = read_batch(description.at("batch_left_pad"), result.expected_dir);
    }
    if (description.contains("dequantised_fp32")) {
        for (const auto& [tensor, npy] : description.at("dequantised_fp32").items()) {
            result.dequantised.emplace_back(tensor, npy.get<std::string>());
        }
    }
    return result;
}

}  // namespace glmchat::test
