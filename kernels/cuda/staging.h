#pragma once

#include <array>
#include <cstddef>

#include <cuda_runtime.h>

namespace glmchat::kernels::cuda {

/// Page-locked memory through which everything crosses between host and device. Page-locked copies run at
/// the bus's full speed and beside the host's work: while one part is on the bus, the next is read from the
/// mapped file. The caller's memory may be reused as soon as upload() returns. Thread: one at a time.
class Staging {
  public:
    /// Throws BackendError when the memory cannot be had.
    explicit Staging(cudaStream_t stream);
    ~Staging();
    Staging(const Staging&) = delete;
    Staging& operator=(const Staging&) = delete;

    /// Ordered on the stream; returns when `source` has been read.
    void upload(void* destination, const void* source, std::size_t size_bytes);
    /// Waits for everything before it on the stream.
    void download(void* destination, const void* source, std::size_t size_bytes);

  private:
    /// 8 MiB take about a third of a millisecond on the bus: the cost of starting a copy no longer shows.
    static constexpr std::size_t kPartBytes = std::size_t{8} << 20;

    struct Part {
        void* memory = nullptr;
        cudaEvent_t on_device = nullptr;  ///< the last copy from this part has been made
    };
    void release();

    cudaStream_t stream_;
    std::array<Part, 2> parts_;
    std::size_t next_ = 0;
};

}  // namespace glmchat::kernels::cuda
