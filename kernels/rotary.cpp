#include "kernels/rotary.h"

#include <cmath>
#include <cstddef>

namespace glmchat::kernels {

std::vector<float> compute_rotary_table(std::int32_t num_positions, std::int32_t rotary_dim, float base,
                                        float position_divisor) {
    const std::int32_t num_pairs = rotary_dim / 2;
    std::vector<float> inv_freq(static_cast<std::size_t>(num_pairs));
    for (std::int32_t i = 0; i < num_pairs; ++i) {
        const float exponent = static_cast<float>(2 * i) / static_cast<float>(rotary_dim);
        inv_freq[static_cast<std::size_t>(i)] =
            1.0F / static_cast<float>(std::pow(double{base}, double{exponent}));
    }
    std::vector<float> cos_sin;
    cos_sin.reserve(static_cast<std::size_t>(num_positions) * static_cast<std::size_t>(rotary_dim));
    for (std::int32_t position = 0; position < num_positions; ++position) {
        const float scaled_position = static_cast<float>(position) / position_divisor;
        for (const float frequency : inv_freq) {
            // The product is rounded to float32 before cos and sin, as the official code does.
            const double angle = static_cast<double>(scaled_position * frequency);
            cos_sin.push_back(static_cast<float>(std::cos(angle)));
            cos_sin.push_back(static_cast<float>(std::sin(angle)));
        }
    }
    return cos_sin;
}

}  // namespace glmchat::kernels
