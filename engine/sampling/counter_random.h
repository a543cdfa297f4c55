#pragma once

#include <cstdint>

namespace glmchat {

/// The random number of one step: a function of seed and step alone, so that it needs no state, survives a
/// preempted sequence and is the same in every batch. Two rounds of the SplitMix64 finaliser (Steele, Lea,
/// Flood 2014): the first spreads the seed, so that neighbouring seeds do not give shifted copies of one
/// stream; the second mixes in the step.
/// @return k / 2^24 with 0 <= k < 2^24: exact in float32, never 1
inline float counter_uniform(std::uint64_t seed, std::uint64_t step) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio
    const auto finalise = [](std::uint64_t z) {
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
        return z ^ (z >> 31);
    };
    const std::uint64_t key = finalise(seed + kGolden);
    const std::uint64_t mixed = finalise(key + (step + 1) * kGolden);
    return static_cast<float>(mixed >> 40) * 0x1p-24F;
}

}  // namespace glmchat
