#include "kernels/host_backend.h"

#include <cassert>
#include <cstring>

#include "kernels/half.h"
#include "kernels/host_memory.h"

namespace glmchat::kernels {

Buffer HostBackend::allocate(std::size_t size_bytes) {
    return allocate_host(size_bytes);
}

void HostBackend::upload(void* destination, const void* host_source, std::size_t size_bytes) {
    if (size_bytes != 0) std::memcpy(destination, host_source, size_bytes);
}

void HostBackend::download(void* host_destination, const void* source, std::size_t size_bytes) {
    if (size_bytes != 0) std::memcpy(host_destination, source, size_bytes);
}

Buffer HostBackend::prepare_vector(const void* host_data, ElementType type, std::int64_t count) {
    assert(type == ElementType::kFloat32 || type == ElementType::kFloat16 || type == ElementType::kBFloat16);
    Buffer buffer = allocate(element_bytes(ElementType::kFloat32, count));
    float* values = buffer.as_float();
    // The source is a tensor somewhere in a mapped file: memcpy, because it may lie at any address.
    const auto* bytes = static_cast<const std::byte*>(host_data);
    for (std::int64_t i = 0; i < count; ++i) {
        if (type == ElementType::kFloat32) {
            std::memcpy(&values[i], bytes + 4 * i, 4);
            continue;
        }
        std::uint16_t bits = 0;
        std::memcpy(&bits, bytes + 2 * i, 2);
        values[i] = type == ElementType::kFloat16 ? half_to_float(bits) : bfloat16_to_float(bits);
    }
    return buffer;
}

}  // namespace glmchat::kernels
