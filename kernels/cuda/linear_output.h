#pragma once

#include "kernels/cuda/kv_cache.h"

/// The end of every linear kernel: a pair of output features that belong together, still in registers.
namespace glmchat::kernels::cuda {

/// Pairs of output features: neighbours (2i, 2i + 1), or for kSwiglu the gate feature i and the up feature
/// i.
__host__ __device__ inline std::int32_t num_output_pairs(const LinearArguments& arguments) {
    if (arguments.output == LinearOutput::kSwiglu) return arguments.weight.out_features / 2;
    return (arguments.weight.out_features + 1) / 2;
}

struct FeaturePair {
    int first;
    int second;  ///< may be out_features when that is odd: then there is no second
};
__device__ inline FeaturePair feature_pair(const LinearArguments& arguments, int pair) {
    if (arguments.output == LinearOutput::kSwiglu) return {pair, pair + arguments.weight.out_features / 2};
    return {2 * pair, 2 * pair + 1};
}

/// Adds the bias to the products of activation row `row` and stores what `output` asks for.
__device__ inline void finish_pair(const LinearArguments& arguments, int row, FeaturePair features,
                                   float first, float second) {
    const int num_features = arguments.weight.out_features;
    if (arguments.output == LinearOutput::kSwiglu) {
        arguments.y[std::int64_t{row} * (num_features / 2) + features.first] = silu(first) * second;
        return;
    }
    const bool has_second = features.second < num_features;
    if (arguments.bias != nullptr) {
        first += arguments.bias[features.first];
        if (has_second) second += arguments.bias[features.second];
    }
    float* y = arguments.y + std::int64_t{row} * num_features;
    if (arguments.output == LinearOutput::kRotaryKv) {
        finish_qkv_pair(arguments.rotary_kv, row, features.first, first, second, y);
        return;
    }
    y[features.first] = first;
    if (has_second) y[features.second] = second;
}

}  // namespace glmchat::kernels::cuda
