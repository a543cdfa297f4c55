#pragma once

#include <vector>

#include "tests/support/check.h"

/// The parts that all_checks() of tests/kernels/cuda is made of, one source file each. Every check compares
/// a device op with kernels/reference. They run on the emulator and, unchanged, on a GPU.
namespace glmchat::test {

std::vector<Check> cuda_norm_checks();
std::vector<Check> cuda_elementwise_checks();
std::vector<Check> cuda_rotary_checks();
std::vector<Check> cuda_linear_checks();
std::vector<Check> cuda_attention_checks();
std::vector<Check> cuda_backend_checks();  ///< memory, recording and joining of stages, errors
std::vector<Check> cuda_model_checks();    ///< whole models

}  // namespace glmchat::test
