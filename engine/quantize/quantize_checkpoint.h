#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include "engine/model/language_model.h"
#include "engine/status.h"

namespace glmchat {

/// One weight in the layout of the official quantised checkpoints: symmetric, one float16 scale per output
/// row.
struct OfficialQuantizedWeight {
    std::vector<std::int8_t>
        packed;  ///< INT8 [rows, cols]; INT4 [rows, cols / 2], even column in the high nibble
    std::vector<std::uint16_t> scales;  ///< [rows] float16
};

/// scale = float16(max|row| / 7 or 127), q = round-half-to-even(float16(w / scale)), as the official code
/// does in float16.
/// @param rows_by_cols  float32 values that came from float16, [rows, cols]; cols even for INT4
OfficialQuantizedWeight quantize_official(std::span<const float> rows_by_cols, std::int64_t rows,
                                          std::int64_t cols, Precision precision);

/// Writes `source` (an FP16/BF16/FP32 model folder) as a model folder in the official INT8 or INT4 layout:
/// the four linears of each layer quantised, everything else kept; config.json with `quantization_bit`;
/// tokenizer files copied. One weight is in memory at a time. `target` must not exist or be empty.
/// @return bytes of the written weights
/// Errors: what the loader refuses, kUnsupported (already quantised, precision not int8 or int4), kNotFound
/// (not writable).
Result<std::size_t> quantize_checkpoint(const std::filesystem::path& source,
                                        const std::filesystem::path& target, Precision precision,
                                        const std::function<void(float)>& on_progress = {});

}  // namespace glmchat
