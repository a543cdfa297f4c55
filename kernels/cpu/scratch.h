#pragma once

#include <cstdint>

#include "kernels/backend.h"
#include "kernels/host_memory.h"

namespace glmchat::kernels {

/// Working memory of one op at a time. It grows to the largest request and is kept, so a forward pass of a
/// shape seen before allocates nothing.
class Scratch {
  public:
    /// Room for `count` floats, aligned to kHostAlignment; what an earlier call returned is then no longer
    /// valid. Errors: BackendError kOutOfMemory.
    float* floats(std::int64_t count) {
        const std::size_t size_bytes = element_bytes(ElementType::kFloat32, count);
        if (size_bytes > buffer_.size_bytes()) {
            buffer_ = Buffer();  // free the old one first
            buffer_ = allocate_host(size_bytes);
        }
        return buffer_.as_float();
    }

  private:
    Buffer buffer_;
};

}  // namespace glmchat::kernels
