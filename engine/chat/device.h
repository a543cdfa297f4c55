#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/model/language_model.h"
#include "engine/status.h"
#include "kernels/backend.h"

namespace glmchat {

enum class Device : std::uint8_t { kAuto, kCpu, kCuda };

std::string_view device_name(Device device);                      ///< "auto", "cpu", "cuda"
std::optional<Device> parse_device(std::string_view name);        ///< none for other words
std::optional<Precision> parse_precision(std::string_view name);  ///< "auto", "fp32", "fp16", "int8", "int4"

/// A backend and why it was taken.
struct DeviceChoice {
    std::unique_ptr<kernels::Backend> backend;
    std::string note;  ///< why this device when it is not the one one would expect; else ""
};

/// kAuto takes the CPU and says in the note why; CUDA, which has been run on an emulator only so far, is used
/// when it is asked for.
/// Errors: kUnsupported when the asked device cannot be used; the message says what is missing.
Result<DeviceChoice> open_device(Device device, std::int32_t num_threads);

}  // namespace glmchat
