#pragma once

#include <vector>

#include "tests/support/check.h"

/// The parts that all_checks() of tests/kernels is made of, one source file each.
namespace glmchat::test {

std::vector<Check> half_checks();         ///< half.h and its SIMD versions, all 65536 halves
std::vector<Check> rotary_checks();       ///< the table of angles
std::vector<Check> reference_checks();    ///< the oracle itself, against cases computed by hand
std::vector<Check> linear_checks();       ///< cpu against reference
std::vector<Check> attention_checks();    ///< cpu against reference: rotary, KV write, attention
std::vector<Check> elementwise_checks();  ///< cpu against reference: norms, SwiGLU, embedding, gather
std::vector<Check> memory_checks();       ///< allocation and preparation of weights
std::vector<Check> thread_pool_checks();

}  // namespace glmchat::test
