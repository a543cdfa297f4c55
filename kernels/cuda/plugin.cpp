#include "kernels/cuda/plugin.h"

#include <algorithm>
#include <exception>
#include <string>
#include <string_view>

#include "kernels/cuda/cuda_backend.h"

namespace {

using glmchat::kernels::Backend;

void write_message(std::string_view text, char* message, std::size_t message_size) {
    if (message_size == 0) return;
    const std::size_t count = std::min(text.size(), message_size - 1);
    text.copy(message, count);
    message[count] = '\0';
}

/// Empty when this library can run on the device.
std::string obstacle(int device) {
    int count = 0;
    const cudaError_t result = cudaGetDeviceCount(&count);
    if (result == cudaErrorInsufficientDriver) {
        return "the NVIDIA driver is too old for this version of glmchat; install a newer one";
    }
    if (result != cudaSuccess) return std::string("CUDA did not start: ") + cudaGetErrorString(result);
    if (device < 0 || device >= count) {
        return "there is no CUDA device " + std::to_string(device) + "; the driver reports " +
               std::to_string(count);
    }
    cudaDeviceProp properties = {};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess)
        return "the CUDA device could not be described";
    constexpr int kOldestMajor = 7;
    constexpr int kOldestMinor = 5;
    if (properties.major > kOldestMajor ||
        (properties.major == kOldestMajor && properties.minor >= kOldestMinor))
        return {};
    return std::string(properties.name) + " has compute capability " + std::to_string(properties.major) +
           "." + std::to_string(properties.minor) + ", and 7.5 (GeForce RTX 20, Tesla T4) or newer is needed";
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int glmchat_cuda_plugin_version() {
    return glmchat::kernels::cuda::kPluginVersion;
}

extern "C" __attribute__((visibility("default"))) Backend* glmchat_cuda_create_backend(
    int device, char* message, std::size_t message_size) {
    try {
        const std::string reason = obstacle(device);
        if (reason.empty()) return new glmchat::kernels::cuda::CudaBackend(device);
        write_message(reason, message, message_size);
    } catch (const std::exception& error) {
        write_message(error.what(), message, message_size);
    }
    return nullptr;
}
