#pragma once

#include <cstddef>
#include <memory>

#include <cuda_runtime.h>

namespace glmchat::kernels::cuda {

/// A stream that does not wait for the default stream, destroyed with the object.
class StreamHandle {
  public:
    StreamHandle();
    ~StreamHandle() { cudaStreamDestroy(stream_); }
    StreamHandle(const StreamHandle&) = delete;
    StreamHandle& operator=(const StreamHandle&) = delete;
    operator cudaStream_t() const { return stream_; }

  private:
    cudaStream_t stream_ = nullptr;
};

/// Device memory, freed with the last copy of the object. Not initialised.
class DeviceMemory {
  public:
    DeviceMemory() = default;
    /// Throws BackendError with needed and free bytes when the device has no room.
    explicit DeviceMemory(std::size_t size_bytes);
    void* data() const { return data_.get(); }
    std::size_t size_bytes() const { return size_bytes_; }
    const std::shared_ptr<void>& share() const { return data_; }

  private:
    std::shared_ptr<void> data_;
    std::size_t size_bytes_ = 0;
};

}  // namespace glmchat::kernels::cuda
