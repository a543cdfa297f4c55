#pragma once

#include <vector>

#include "tests/support/check.h"

namespace glmchat::test {

std::vector<Check> kit_text_checks();

}  // namespace glmchat::test
