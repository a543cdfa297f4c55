#pragma once

#include <vector>

#include "tests/support/check.h"

namespace glmchat::test {

/// Random opens, passes, failed passes and ends: invariants after every one, and agreement with a naive
/// model.
void add_random_operations(std::vector<Check>& checks);

}  // namespace glmchat::test
