#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace glmchat::kernels {

/// One NVIDIA card as the driver describes it.
struct CudaDevice {
    int index = 0;
    std::string name;
    int compute_major = 0;
    int compute_minor = 0;
    std::size_t total_bytes = 0;
};

/// What the machine offers. Exactly one of `devices` and `reason` is non-empty.
struct CudaProbe {
    std::vector<CudaDevice> devices;
    std::string
        reason;  ///< one clause for people: "no NVIDIA driver was found", "the driver reports no device"
};

/// Asks the NVIDIA driver, loaded at run time, so that the program starts on machines without one. Honours
/// CUDA_VISIBLE_DEVICES as the driver does. Any thread; takes up to a second on the first call where there is
/// a card.
CudaProbe probe_cuda();

}  // namespace glmchat::kernels
