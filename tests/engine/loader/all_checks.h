#pragma once

#include <vector>

#include "tests/support/check.h"

namespace glmchat::test {

// One table per file.
std::vector<Check> config_checks();
std::vector<Check> folder_checks();
std::vector<Check> golden_checks();
std::vector<Check> kit_checks();
std::vector<Check> safetensors_checks();
std::vector<Check> torch_checks();

}  // namespace glmchat::test
