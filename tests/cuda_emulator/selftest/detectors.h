#pragma once

#include <vector>

#include "cuda_emulator/control.h"
#include <cuda_runtime.h>

/// Tiny kernels that make one mistake each, and do not make it when `wrong` is 0.
namespace selftest {

inline constexpr int kCount = 128;  ///< elements of each buffer, exactly

/// Device memory of a detector.
struct Buffers {
    float* x;          ///< initialised: x[i] = i
    float* y;          ///< initialised: 0
    float* empty;      ///< never written
    float* freed;      ///< given back before the launch if the case is wrong, else x
    float* host;       ///< host memory if the case is wrong, else x
    unsigned* ticket;  ///< one counter, 0
};

enum Builds : unsigned { kFast = 1, kCheck = 2, kAsan = 4, kAll = 7 };

struct Detector {
    const char* name;  ///< the line that must be named carries the comment "reported: <name>"
    emu::Finding finding;
    unsigned builds;  ///< where it is found; kAsan alone would end the program and is not run here
    cudaError_t (*run)(const Buffers& buffers, int wrong, cudaStream_t stream);
};

std::vector<Detector> detectors();

}  // namespace selftest
