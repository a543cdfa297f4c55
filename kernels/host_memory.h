#pragma once

#include <cstddef>

#include "kernels/backend.h"

namespace glmchat::kernels {

inline constexpr std::size_t kHostAlignment = 64;  ///< one cache line, one AVX-512 register

/// Zero-filled host memory aligned to kHostAlignment. Large requests are mapped and take physical memory page
/// by page as they are first touched, so a KV cache costs what it holds and not what it could hold. Errors:
/// BackendError kOutOfMemory with needed_bytes.
Buffer allocate_host(std::size_t size_bytes);

/// Fresh zero pages from the system, or null. One source file per kind of system; CMake chooses.
void* map_zero_pages(std::size_t size_bytes);
void unmap_zero_pages(void* pages, std::size_t size_bytes);

}  // namespace glmchat::kernels
