#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/npy.h"

namespace glmchat::test {

/// One prompt of a case.json and what the reference computes for it.
struct PromptCase {
    std::vector<std::int32_t> input_ids;
    NpyArray logits;  ///< [tokens, vocab], or the last position only: [1, vocab] or [vocab]
    std::optional<NpyArray> hidden_states;           ///< [num_layers + 1, tokens, hidden]
    std::vector<std::vector<std::int32_t>> top_ids;  ///< per token, most probable first; may be empty
    std::vector<std::vector<double>> top_logits;
    std::vector<std::int32_t> greedy;
    std::vector<double> greedy_margins;  ///< top-1 minus top-2 of every greedy step
};

/// Left-padded rows, padding removed.
struct BatchCase {
    std::vector<std::vector<std::int32_t>> rows;
    NpyArray last_logits;  ///< [rows, vocab]
    std::vector<std::vector<std::int32_t>> greedy;
};

/// A tiny model in the layout of the conformance kit, which our own golden models share.
struct ModelCase {
    std::string name;
    std::vector<std::filesystem::path> checkpoints;
    std::filesystem::path base_checkpoint;  ///< P-Tuning: `checkpoints` hold the prefix; else empty
    std::filesystem::path expected_dir;
    std::vector<PromptCase> prompts;
    std::optional<BatchCase> batch;
    /// Official quantised checkpoints: tensor name and file in expected_dir of the dequantised float32
    /// values.
    std::vector<std::pair<std::string, std::string>> dequantised;
};

/// @param root  folder that holds models/<name>/case.json. Throws std::exception when something is missing or
/// malformed.
ModelCase read_model_case(const std::filesystem::path& root, const std::string& name);

}  // namespace glmchat::test
