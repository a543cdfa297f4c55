#pragma once

#include <cstddef>

#include "kernels/backend.h"

/// What the program finds in the plug-in library by name. The library is built from the same sources by the
/// same compiler; the version says so before any C++ object crosses.
namespace glmchat::kernels::cuda {

/// Raised whenever kernels/backend.h or a type it uses changes.
inline constexpr int kPluginVersion = 1;

inline constexpr const char* kPluginVersionSymbol = "glmchat_cuda_plugin_version";
inline constexpr const char* kCreateBackendSymbol = "glmchat_cuda_create_backend";

using PluginVersionFunction = int (*)();
/// @return a backend that the caller deletes, or null with a clause in `message`
using CreateBackendFunction = Backend* (*)(int device, char* message, std::size_t message_size);

}  // namespace glmchat::kernels::cuda
