#include "kernels/host_memory.h"

#include <cstring>
#include <new>
#include <string>

namespace glmchat::kernels {
namespace {

// Below this a mapping of its own costs more (a system call, whole pages) than zeroing does.
constexpr std::size_t kMapThresholdBytes = std::size_t{1} << 20;

[[noreturn]] void throw_out_of_memory(std::size_t size_bytes) {
    throw BackendError(BackendError::Kind::kOutOfMemory,
                       "not enough memory for " + std::to_string(size_bytes) + " bytes", size_bytes);
}

}  // namespace

Buffer allocate_host(std::size_t size_bytes) {
    if (size_bytes >= kMapThresholdBytes) {
        void* pages = map_zero_pages(size_bytes);
        if (pages == nullptr) throw_out_of_memory(size_bytes);
        return {pages, size_bytes, [size_bytes](void* data) { unmap_zero_pages(data, size_bytes); }};
    }
    constexpr auto kAlignment = std::align_val_t{kHostAlignment};
    void* data = ::operator new(size_bytes, kAlignment, std::nothrow);
    if (data == nullptr) throw_out_of_memory(size_bytes);
    std::memset(data, 0, size_bytes);
    return {data, size_bytes, [](void* memory) { ::operator delete(memory, kAlignment); }};
}

}  // namespace glmchat::kernels
