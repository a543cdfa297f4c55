#include "api.h"
#include "device.h"
#include "shared_memory.h"
#include "streams.h"

namespace emu {
namespace {

/// Empty if the device can run it.
std::string beyond_limits(const LaunchCfg& config) {
    const dim3& grid_extent = config.grid;
    const dim3& block_extent = config.block;
    const auto threads = std::uint64_t{block_extent.x} * block_extent.y * block_extent.z;
    if (threads == 0 || std::uint64_t{grid_extent.x} * grid_extent.y * grid_extent.z == 0)
        return "an extent is 0";
    if (threads > kMaxFibers)
        return format("%llu threads per block", static_cast<unsigned long long>(threads));
    if (block_extent.z > 64) return format("blockDim.z of %u", block_extent.z);
    if (grid_extent.x > 0x7FFFFFFFU) return format("gridDim.x of %u", grid_extent.x);
    if (grid_extent.y > 65535) return format("gridDim.y of %u", grid_extent.y);
    if (grid_extent.z > 65535) return format("gridDim.z of %u", grid_extent.z);
    return "";
}

cudaError_t refuse(const LaunchCfg& config, const std::string& why, cudaError_t error) {
    report(Finding::kLimit, "launch: " + why, {{config.file, config.line}});
    return error;
}

}  // namespace

cudaError_t enqueue_kernel(const LaunchCfg& config, const void* kernel, std::function<void()> thread_body) {
    return call("launch", [&] {
        CUstream_st* const stream = find_stream(config.stream);
        if (stream == nullptr)
            return misuse("launch", "the stream does not exist", cudaErrorInvalidResourceHandle);
        if (stream == default_stream()) misuse("launch", "a kernel on the default stream");
        const std::string limit = beyond_limits(config);
        if (!limit.empty()) return refuse(config, limit, cudaErrorInvalidConfiguration);
        if (config.smem > shared_limit_of(kernel)) {
            return refuse(config,
                          format("%zu bytes of dynamic shared memory, the kernel may have %zu", config.smem,
                                 shared_limit_of(kernel)),
                          cudaErrorInvalidValue);
        }
        const Site site{config.file, config.line};
        const KernelLaunch one{kernel, config.grid, config.block, config.smem, site, std::move(thread_body)};
        return enqueue(*stream,
                       {[one] { run_kernel(one); }, "the kernel launched at " + describe(site), kernel});
    });
}

}  // namespace emu

using namespace emu;

extern "C" {

cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
    return call("cudaFuncSetAttribute", [&] {
        if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;
        if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) {
            return misuse("cudaFuncSetAttribute", "attribute not emulated");
        }
        if (value < 0 || static_cast<std::size_t>(value) > max_opt_in_shared()) {
            return misuse("cudaFuncSetAttribute", format("%d bytes of shared memory, the device has %zu",
                                                         value, max_opt_in_shared()));
        }
        set_dynamic_shared(kernel, static_cast<std::size_t>(value));
        return cudaSuccess;
    });
}

}  // extern "C"
