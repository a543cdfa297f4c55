#include "engine/chat/device.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "kernels/cuda_backend.h"
#include "kernels/cuda_probe.h"

namespace glmchat {
namespace {

constexpr std::array<std::pair<Device, std::string_view>, 3> kDeviceNames = {
    {{Device::kAuto, "auto"}, {Device::kCpu, "cpu"}, {Device::kCuda, "cuda"}}};
constexpr std::array kPrecisions = {Precision::kAuto, Precision::kFloat32, Precision::kFloat16,
                                    Precision::kInt8, Precision::kInt4};

Result<DeviceChoice> open_cuda() {
    const auto refuse = [](const std::string& obstacle) {
        return failure(StatusKind::kUnsupported,
                       fmt::format("The model cannot run on CUDA: {}. Choose the device \"cpu\" or \"auto\".",
                                   obstacle));
    };
    const kernels::CudaProbe probe = kernels::probe_cuda();
    if (probe.devices.empty()) return refuse(probe.reason);
    try {
        return DeviceChoice{kernels::make_cuda_backend(), ""};
    } catch (const kernels::BackendError& error) {
        return refuse(error.what());
    }
}

/// Why the CPU is taken when the choice is left to us.
std::string cpu_note() {
    const kernels::CudaProbe probe = kernels::probe_cuda();
    if (probe.devices.empty()) return fmt::format("Running on the CPU: {}.", probe.reason);
    return fmt::format("Running on the CPU: {} is used when the device \"cuda\" is chosen.",
                       probe.devices.front().name);
}

}  // namespace

std::string_view device_name(Device device) {
    for (const auto& [value, name] : kDeviceNames) {
        if (value == device) return name;
    }
    return "";
}

std::optional<Device> parse_device(std::string_view name) {
    for (const auto& [value, value_name] : kDeviceNames) {
        if (value_name == name) return value;
    }
    return std::nullopt;
}

std::optional<Precision> parse_precision(std::string_view name) {
    for (const Precision precision : kPrecisions) {
        if (precision_name(precision) == name) return precision;
    }
    return std::nullopt;
}

Result<DeviceChoice> open_device(Device device, std::int32_t num_threads) {
    if (device == Device::kCuda) return open_cuda();
    DeviceChoice choice;
    try {
        choice.backend = kernels::make_cpu_backend(num_threads);
    } catch (const kernels::BackendError& error) {
        return failure(StatusKind::kDeviceFailure, "The CPU backend could not start.", error.what());
    }
    if (device == Device::kAuto) choice.note = cpu_note();
    return choice;
}

}  // namespace glmchat
