#pragma once

#include <memory>

#include "kernels/backend.h"
#include "kernels/cpu/isa.h"

namespace glmchat::kernels {

/// make_cpu_backend() with a chosen instruction set, for the tests; the level must be supported.
std::unique_ptr<Backend> make_cpu_backend(int num_threads, IsaLevel level);

}  // namespace glmchat::kernels
