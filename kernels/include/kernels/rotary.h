#pragma once

#include <cstdint>
#include <vector>

namespace glmchat::kernels {

/// cos and sin of angle(p, i) = (p / position_divisor) * base^(-2i / rotary_dim), angles rounded to float32 as in the official
/// float32 code, so that long positions agree with it.
/// @return [num_positions, rotary_dim / 2, 2] = (cos, sin), host memory
std::vector<float> compute_rotary_table(std::int32_t num_positions, std::int32_t rotary_dim, float base,
                                        float position_divisor);

}  // namespace glmchat::kernels
