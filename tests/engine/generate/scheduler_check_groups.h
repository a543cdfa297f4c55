#pragma once

#include <vector>

#include "tests/support/check.h"

namespace glmchat::test {

// One file each.
void add_basic_checks(std::vector<Check>& checks);  ///< ends, limits, requests that are refused, statistics
void add_batching_checks(std::vector<Check>& checks);      ///< several at once, chunks, fairness, preemption
void add_conversation_checks(std::vector<Check>& checks);  ///< reuse between rounds
void add_stop_string_checks(std::vector<Check>& checks);
void add_cancel_checks(std::vector<Check>& checks);   ///< cancelling, threads
void add_failure_checks(std::vector<Check>& checks);  ///< NaN, memory, receivers that throw

}  // namespace glmchat::test
