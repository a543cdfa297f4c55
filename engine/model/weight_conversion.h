#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/status.h"
#include "kernels/tensor.h"

namespace glmchat {

/// Bytes of a weight's elements and scales.
std::size_t weight_size_bytes(const kernels::LinearWeight& weight);

/// Elements of the reduction dimension that share a scale in our own quantise-on-load: the largest of 128, 64
/// and 32 that divides in_features, else in_features (one scale per row).
std::int64_t quantization_group_size(std::int64_t in_features);

/// The shape, scale layout and group size of a weight quantised on load (or generated); data and scales are
/// still null.
/// @param type  kInt8 or kInt4
kernels::LinearWeight quantized_layout(kernels::ElementType type, std::int64_t out_features,
                                       std::int64_t in_features);

/// A plain weight (FP32, FP16 or BF16) in another element type, row by row on all processors. Peak memory:
/// the result and one float32 row per processor. kInt8 and kInt4 are symmetric with one float16 scale per
/// group: scale = max|w| / 127 (or 7), q = round-half-even(w / scale). NaN and infinities are refused then,
/// as they have no scale.
/// @param what  "tensor X in file Y", for messages
/// Errors: kBadFile (NaN or infinity), kUnsupported (too large for float16; INT4 with an odd number of
/// columns).
Result<kernels::LinearWeight> convert_weight(const kernels::LinearWeight& stored, kernels::ElementType target,
                                             std::string_view what);

/// Elements of a plain array as float32. `source` may lie at any address.
/// @param type  kFloat32, kFloat16 or kBFloat16
void widen_to_float(const void* source, kernels::ElementType type, std::int64_t count, float* values);

}  // namespace glmchat
