#pragma once

#include <memory>
#include <vector>

#include "tests/support/check.h"

#include "engine/tokenizer/tokenizer.h"

namespace glmchat::test {

/// The repository's own small vocabulary (tests/golden/tokenizer).
std::shared_ptr<const Tokenizer> golden_tokenizer();

std::vector<Check> kit_text_checks();
std::vector<Check> golden_text_checks();
std::vector<Check> tokenizer_file_checks();
std::vector<Check> format_checks();

}  // namespace glmchat::test
