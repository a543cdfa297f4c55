#include "api.h"

#include "device.h"
#include "streams.h"

namespace emu {
namespace {

thread_local bool in_host_function = false;
cudaError_t last_error = cudaSuccess;

}  // namespace

cudaError_t before_call(const char* name) {
    if (in_host_function) {
        return misuse(name, "called from a host function of a stream", cudaErrorNotPermitted);
    }
    return sticky_error;
}

cudaError_t after_call(cudaError_t result) {
    if (result != cudaSuccess && result != cudaErrorNotReady) last_error = result;
    return result;
}

cudaError_t misuse(const char* name, const std::string& what, cudaError_t error) {
    report(Finding::kApi, std::string(name) + ": " + what);
    return error;
}

cudaError_t refuse_in_capture(const char* name) {
    if (!capturing()) return cudaSuccess;
    invalidate_captures();
    return misuse(name, "not allowed while a stream captures", cudaErrorStreamCaptureUnsupported);
}

HostFunctionScope::HostFunctionScope() {
    in_host_function = true;
}
HostFunctionScope::~HostFunctionScope() {
    in_host_function = false;
}

void report_leaks() {
    const std::lock_guard lock(machine_mutex());
    for (const Buffer& buffer : live_buffers()) {
        report(Finding::kLeak,
               format("device buffer %p of %zu bytes", static_cast<void*>(buffer.address), buffer.bytes));
    }
    for (const auto& list : {memory_leaks(), stream_leaks(), graph_leaks(), cublas_leaks()}) {
        for (const std::string& leak : list) report(Finding::kLeak, leak);
    }
}

}  // namespace emu

using emu::last_error;

extern "C" {

cudaError_t cudaGetLastError() {
    const std::lock_guard lock(emu::machine_mutex());
    const cudaError_t error = emu::sticky_error != cudaSuccess ? emu::sticky_error : last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError() {
    const std::lock_guard lock(emu::machine_mutex());
    return emu::sticky_error != cudaSuccess ? emu::sticky_error : last_error;
}

const char* cudaGetErrorName(cudaError_t error) {
    switch (error) {
        case cudaSuccess:
            return "cudaSuccess";
        case cudaErrorInvalidValue:
            return "cudaErrorInvalidValue";
        case cudaErrorMemoryAllocation:
            return "cudaErrorMemoryAllocation";
        case cudaErrorInvalidConfiguration:
            return "cudaErrorInvalidConfiguration";
        case cudaErrorIllegalAddress:
            return "cudaErrorIllegalAddress";
        case cudaErrorMisalignedAddress:
            return "cudaErrorMisalignedAddress";
        case cudaErrorLaunchFailure:
            return "cudaErrorLaunchFailure";
        case cudaErrorNotReady:
            return "cudaErrorNotReady";
        case cudaErrorNotPermitted:
            return "cudaErrorNotPermitted";
        case cudaErrorStreamCaptureUnsupported:
            return "cudaErrorStreamCaptureUnsupported";
        case cudaErrorStreamCaptureInvalidated:
            return "cudaErrorStreamCaptureInvalidated";
        case cudaErrorStreamCaptureUnjoined:
            return "cudaErrorStreamCaptureUnjoined";
        default:
            return "another CUDA error";
    }
}

const char* cudaGetErrorString(cudaError_t error) {
    return cudaGetErrorName(error);
}

}  // extern "C"
