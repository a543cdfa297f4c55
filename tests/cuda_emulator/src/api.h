#pragma once

#include "machine.h"

/// What every emulated call does first and last.
namespace emu {

/// Runs `body` under the lock, unless a kernel has died or the caller is a host function in a stream; keeps
/// the error for cudaGetLastError.
template <typename Body>
cudaError_t call(const char* name, Body body);

/// Reports wrong use and returns `error`.
cudaError_t misuse(const char* name, const std::string& what, cudaError_t error = cudaErrorInvalidValue);
/// For calls that a capture does not survive: reports, invalidates, returns the error; cudaSuccess while
/// nothing is captured.
cudaError_t refuse_in_capture(const char* name);

cudaError_t before_call(const char* name);
cudaError_t after_call(cudaError_t result);

template <typename Body>
cudaError_t call(const char* name, Body body) {
    const std::lock_guard lock(machine_mutex());
    const cudaError_t refused = before_call(name);
    return after_call(refused == cudaSuccess ? body() : refused);
}

/// While one lives, the code that runs is a host function of a stream, which may not call the runtime.
class HostFunctionScope {
  public:
    HostFunctionScope();
    ~HostFunctionScope();
    HostFunctionScope(const HostFunctionScope&) = delete;
    HostFunctionScope& operator=(const HostFunctionScope&) = delete;
};

/// Leaks that other files know of: pinned memory, events, graphs, cuBLAS handles.
std::vector<std::string> memory_leaks();
std::vector<std::string> graph_leaks();
std::vector<std::string> cublas_leaks();

}  // namespace emu
