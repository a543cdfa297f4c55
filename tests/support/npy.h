#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace glmchat::test {

/// A NumPy file as float64 values (exact for float32, float16-widened and all integer files up to 2^53).
struct NpyArray {
    std::vector<std::int64_t> shape;
    std::vector<double> values;

    std::vector<float> as_float() const { return {values.begin(), values.end()}; }
};

/// Reads little-endian C-order .npy of f4, f8, i1, u1, i4, i8. Throws std::runtime_error with the file's name.
NpyArray read_npy(const std::filesystem::path& path);

}  // namespace glmchat::test
