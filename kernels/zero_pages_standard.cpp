#include <cstring>
#include <new>

#include "kernels/host_memory.h"

namespace glmchat::kernels {

void* map_zero_pages(std::size_t size_bytes) {
    void* pages = ::operator new (size_bytes, std::align_val_t{kHostAlignment}, std::nothrow);
    if (pages != nullptr) std::memset(pages, 0, size_bytes);
    return pages;
}

void unmap_zero_pages(void* pages, std::size_t /*size_bytes*/) {
    ::operator delete (pages, std::align_val_t{kHostAlignment});
}

}  // namespace glmchat::kernels
