#include "kernels/cuda/device_memory.h"

#include <algorithm>

#include "kernels/cuda/cuda_error.h"

namespace glmchat::kernels::cuda {

StreamHandle::StreamHandle() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream");
}

DeviceMemory::DeviceMemory(std::size_t size_bytes) : size_bytes_(size_bytes) {
    void* memory = nullptr;
    const cudaError_t result = cudaMalloc(&memory, std::max<std::size_t>(size_bytes, 1));
    if (result == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        std::size_t free_bytes = 0;
        std::size_t total_bytes = 0;
        cudaMemGetInfo(&free_bytes, &total_bytes);
        throw BackendError(BackendError::Kind::kOutOfMemory, "the graphics card has too little free memory",
                           size_bytes, free_bytes);
    }
    check(result, "allocating device memory");
    data_ = std::shared_ptr<void>(memory, [](void* allocation) { cudaFree(allocation); });
}

}  // namespace glmchat::kernels::cuda
