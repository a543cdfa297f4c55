#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/check.h"

namespace glmchat::test {

/// Checks of one case of `root` (see ModelCase): for every checkpoint of it on every backend, logits and
/// hidden states of a whole pass, of chunked and token-by-token passes and of a ragged batch, and greedy
/// tokens.
std::vector<Check> forward_checks(const std::filesystem::path& root, const std::string& case_name);

/// Conversion of weights between element types, and our own quantisation.
std::vector<Check> conversion_checks();

/// Precisions of a checkpoint, views of its file, and folders that must be refused.
std::vector<Check> loading_checks();

/// Wrong calls, cancelling, and failure of every single allocation.
std::vector<Check> failure_checks();

/// Generated weights and memory estimates.
std::vector<Check> synthetic_checks();

}  // namespace glmchat::test
