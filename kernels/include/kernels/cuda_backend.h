#pragma once

#include <memory>

#include "kernels/backend.h"

namespace glmchat::kernels {

/// The CUDA backend on device `index` (as probe_cuda() numbers them), from the plug-in library that is
/// loaded on the first call, so that the program itself needs no CUDA. Throws BackendError with a clause for
/// people: the plug-in or a CUDA library is missing, it belongs to another version, the driver or the card
/// is too old, memory is short. Thread: any.
std::unique_ptr<Backend> make_cuda_backend(int index = 0);

}  // namespace glmchat::kernels
