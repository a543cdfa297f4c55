#include <sys/mman.h>

#include "kernels/host_memory.h"

namespace glmchat::kernels {

void* map_zero_pages(std::size_t size_bytes) {
    void* pages = mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

void unmap_zero_pages(void* pages, std::size_t size_bytes) {
    munmap(pages, size_bytes);
}

}  // namespace glmchat::kernels
