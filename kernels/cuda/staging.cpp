#include "kernels/cuda/staging.h"

#include <algorithm>
#include <cstring>

#include "kernels/cuda/cuda_error.h"

namespace glmchat::kernels::cuda {

Staging::Staging(cudaStream_t stream) : stream_(stream) {
    try {
        for (Part& part : parts_) {
            check(cudaMallocHost(&part.memory, kPartBytes), "page-locking memory for copies");
            check(cudaEventCreateWithFlags(&part.on_device, cudaEventDisableTiming), "creating an event");
        }
    } catch (...) {
        release();
        throw;
    }
}

Staging::~Staging() {
    cudaStreamSynchronize(stream_);
    release();
}

void Staging::release() {
    for (Part& part : parts_) {
        if (part.on_device != nullptr) cudaEventDestroy(part.on_device);
        if (part.memory != nullptr) cudaFreeHost(part.memory);
    }
}

void Staging::upload(void* destination, const void* source, std::size_t size_bytes) {
    auto* to = static_cast<std::byte*>(destination);
    const auto* from = static_cast<const std::byte*>(source);
    while (size_bytes > 0) {
        const std::size_t count = std::min(size_bytes, kPartBytes);
        Part& part = parts_[next_];
        next_ = (next_ + 1) % parts_.size();
        check(cudaEventSynchronize(part.on_device), "waiting for a copy");
        std::memcpy(part.memory, from, count);
        check(cudaMemcpyAsync(to, part.memory, count, cudaMemcpyHostToDevice, stream_),
              "a copy to the device");
        check(cudaEventRecord(part.on_device, stream_), "recording an event");
        to += count;
        from += count;
        size_bytes -= count;
    }
}

void Staging::download(void* destination, const void* source, std::size_t size_bytes) {
    auto* to = static_cast<std::byte*>(destination);
    const auto* from = static_cast<const std::byte*>(source);
    check(cudaStreamSynchronize(stream_), "waiting for the device");
    while (size_bytes > 0) {
        const std::size_t count = std::min(size_bytes, kPartBytes);
        check(cudaMemcpyAsync(parts_[0].memory, from, count, cudaMemcpyDeviceToHost, stream_),
              "a copy from the device");
        check(cudaStreamSynchronize(stream_), "waiting for the device");
        std::memcpy(to, parts_[0].memory, count);
        to += count;
        from += count;
        size_bytes -= count;
    }
}

}  // namespace glmchat::kernels::cuda
