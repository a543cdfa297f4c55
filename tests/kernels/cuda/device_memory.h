#pragma once

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <cuda_runtime.h>

namespace glmchat::test {

/// A failed CUDA call ends the check with the call's error.
inline void require(cudaError_t result) {
    if (result != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(result));
}

class Stream {
  public:
    Stream() { require(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return stream_; }
    void synchronize() const { require(cudaStreamSynchronize(stream_)); }

  private:
    cudaStream_t stream_ = nullptr;
};

/// Device memory of exactly as many bytes as its elements take, so that reading one element too far leaves
/// the allocation.
template <typename T>
class DeviceArray {
  public:
    explicit DeviceArray(std::size_t count) : count_(count) {
        if (count != 0) require(cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(T)));
    }
    DeviceArray(std::span<const T> values, const Stream& stream) : DeviceArray(values.size()) {
        if (count_ == 0) return;
        require(cudaMemcpyAsync(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice, stream));
        stream.synchronize();
    }
    DeviceArray(const std::vector<T>& values, const Stream& stream)
        : DeviceArray(std::span<const T>(values), stream) {}
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    T* data() const { return data_; }
    /// Waits for everything before it on the stream.
    std::vector<T> download(const Stream& stream) const {
        std::vector<T> values(count_);
        if (count_ == 0) return values;
        require(cudaMemcpyAsync(values.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost, stream));
        stream.synchronize();
        return values;
    }

  private:
    T* data_ = nullptr;
    std::size_t count_ = 0;
};

}  // namespace glmchat::test
