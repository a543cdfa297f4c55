#pragma once

#include <vector>

#include "tests/support/check.h"

namespace glmchat::test {

std::vector<Check> chat_engine_checks();
std::vector<Check> response_stream_checks();

}  // namespace glmchat::test
