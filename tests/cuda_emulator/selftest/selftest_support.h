#pragma once

#include <string>
#include <vector>

#include "cuda_emulator/control.h"
#include "tests/support/check.h"
#include <cuda_runtime.h>

/// What the self-tests share. Objects free what they hold, so that the closing leak check stays silent.
namespace selftest {

/// A stream that ends with its scope.
class Stream {
  public:
    Stream() { cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking); }
    ~Stream() { cudaStreamDestroy(stream_); }
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    operator cudaStream_t() const { return stream_; }
    cudaError_t wait() const { return cudaStreamSynchronize(stream_); }

  private:
    cudaStream_t stream_ = nullptr;
};

class Event {
  public:
    Event() { cudaEventCreateWithFlags(&event_, cudaEventDisableTiming); }
    ~Event() { cudaEventDestroy(event_); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    operator cudaEvent_t() const { return event_; }

  private:
    cudaEvent_t event_ = nullptr;
};

/// An array in device memory; from `values`, or not initialised.
template <typename T>
class DeviceArray {
  public:
    explicit DeviceArray(std::size_t count) : count_(count) { cudaMalloc(&data_, count * sizeof(T)); }
    explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
        cudaMemcpy(data_, values.data(), count_ * sizeof(T), cudaMemcpyHostToDevice);
    }
    ~DeviceArray() { cudaFree(data_); }
    DeviceArray(const DeviceArray&) = delete;
    DeviceArray& operator=(const DeviceArray&) = delete;

    T* get() const { return data_; }
    /// Its values after everything that streams still have to do.
    std::vector<T> values() const {
        cudaDeviceSynchronize();
        std::vector<T> result(count_);
        cudaMemcpy(result.data(), data_, count_ * sizeof(T), cudaMemcpyDeviceToHost);
        return result;
    }

  private:
    T* data_ = nullptr;
    std::size_t count_;
};

inline bool has(const std::vector<emu::Report>& reports, emu::Finding finding) {
    for (const emu::Report& report : reports) {
        if (report.finding == finding) return true;
    }
    return false;
}

inline std::string text_of(const std::vector<emu::Report>& reports) {
    std::string text;
    for (const emu::Report& report : reports) text += "\n  " + report.text();
    return text.empty() ? "nothing" : text;
}

/// Fails unless `finding` is among what has been reported since the last call; takes the reports.
inline glmchat::test::CheckResult expect_report(emu::Finding finding) {
    const std::vector<emu::Report> reports = emu::take_reports();
    if (has(reports, finding)) return glmchat::test::passed();
    return glmchat::test::failed(std::string("no ") + emu::name_of(finding) +
                                 "; reported: " + text_of(reports));
}

std::vector<glmchat::test::Check> detector_checks();
std::vector<glmchat::test::Check> instruction_checks();
std::vector<glmchat::test::Check> stream_checks();
std::vector<glmchat::test::Check> graph_checks();
std::vector<glmchat::test::Check> memory_checks();
std::vector<glmchat::test::Check> cublas_checks();

}  // namespace selftest
