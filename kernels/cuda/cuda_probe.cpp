#include "kernels/cuda_probe.h"

#include <array>
#include <memory>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace glmchat::kernels {
namespace {

// The few driver entry points the probe calls, declared here because the CUDA toolkit is not needed to build
// this file. Signatures as documented in the CUDA driver API; every result type is an enum whose 0 means
// success.
using CuInit = int (*)(unsigned int flags);
using CuDeviceGetCount = int (*)(int* count);
using CuDeviceGet = int (*)(int* device, int ordinal);
using CuDeviceGetName = int (*)(char* name, int length, int device);
using CuDeviceTotalMem = int (*)(std::size_t* bytes, int device);
using CuDeviceGetAttribute = int (*)(int* value, int attribute, int device);

constexpr int kSuccess = 0;
constexpr int kErrorNoDevice = 100;
constexpr int kComputeCapabilityMajor = 75;
constexpr int kComputeCapabilityMinor = 76;

/// The driver library, closed again with the object.
class DriverLibrary {
  public:
#if defined(_WIN32)
    DriverLibrary() : handle_(LoadLibraryA("nvcuda.dll")) {}
    ~DriverLibrary() {
        if (handle_ != nullptr) FreeLibrary(handle_);
    }
    void* symbol(const char* name) const {
        return reinterpret_cast<void*>(GetProcAddress(handle_, name));
    }
#else
    DriverLibrary() : handle_(dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {}
    ~DriverLibrary() {
        if (handle_ != nullptr) dlclose(handle_);
    }
    void* symbol(const char* name) const {
        return dlsym(handle_, name);
    }
#endif
    DriverLibrary(const DriverLibrary&) = delete;
    DriverLibrary& operator=(const DriverLibrary&) = delete;
    bool found() const {
        return handle_ != nullptr;
    }

    template <typename Function>
    Function function(const char* name) const {
        return reinterpret_cast<Function>(symbol(name));
    }

  private:
#if defined(_WIN32)
    HMODULE handle_;
#else
    void* handle_;
#endif
};

CudaProbe unavailable(std::string reason) {
    return {{}, std::move(reason)};
}

}  // namespace

CudaProbe probe_cuda() {
    const DriverLibrary driver;
    if (!driver.found()) return unavailable("no NVIDIA driver was found");

    const auto init = driver.function<CuInit>("cuInit");
    const auto get_count = driver.function<CuDeviceGetCount>("cuDeviceGetCount");
    const auto get_device = driver.function<CuDeviceGet>("cuDeviceGet");
    const auto get_name = driver.function<CuDeviceGetName>("cuDeviceGetName");
    const auto get_memory = driver.function<CuDeviceTotalMem>("cuDeviceTotalMem_v2");
    const auto get_attribute = driver.function<CuDeviceGetAttribute>("cuDeviceGetAttribute");
    if (!init || !get_count || !get_device || !get_name || !get_memory || !get_attribute) {
        return unavailable("the NVIDIA driver is too old");
    }

    const int init_result = init(0);
    if (init_result == kErrorNoDevice) return unavailable("the NVIDIA driver reports no device");
    if (init_result != kSuccess) {
        return unavailable("the NVIDIA driver did not start (error " + std::to_string(init_result) + ")");
    }
    int count = 0;
    if (get_count(&count) != kSuccess || count == 0)
        return unavailable("the NVIDIA driver reports no device");

    CudaProbe probe;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        int device = 0;
        std::array<char, 256> name{};
        CudaDevice found;
        found.index = ordinal;
        const bool described =
            get_device(&device, ordinal) == kSuccess &&
            get_name(name.data(), static_cast<int>(name.size()), device) == kSuccess &&
            get_memory(&found.total_bytes, device) == kSuccess &&
            get_attribute(&found.compute_major, kComputeCapabilityMajor, device) == kSuccess &&
            get_attribute(&found.compute_minor, kComputeCapabilityMinor, device) == kSuccess;
        if (!described) continue;
        found.name = name.data();
        probe.devices.push_back(std::move(found));
    }
    if (probe.devices.empty()) return unavailable("the NVIDIA driver could not describe its devices");
    return probe;
}

}  // namespace glmchat::kernels
