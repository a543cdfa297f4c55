#include <cstring>
#include <numeric>

#include "tests/cuda_emulator/selftest/detectors.h"
#include "tests/cuda_emulator/selftest/selftest_support.h"
#include "tests/cuda_emulator/selftest/stream_kernels.h"
#include <sys/wait.h>
#include <unistd.h>

namespace selftest {
namespace {

using namespace glmchat::test;
using emu::Finding;

constexpr std::size_t kBytes = 1000;

CheckResult injected_failure() {
    void* memory[3] = {};
    emu::fail_allocation(2);
    const cudaError_t first = cudaMalloc(&memory[0], kBytes);
    const cudaError_t second = cudaMallocHost(&memory[1], kBytes);
    const cudaError_t third = cudaMalloc(&memory[2], kBytes);
    const cudaError_t noted = cudaGetLastError();
    cudaFree(memory[0]);
    cudaFree(memory[2]);
    if (first != cudaSuccess || third != cudaSuccess) return failed("the wrong allocation failed");
    if (memory[1] != nullptr) return failed("memory in spite of the failure");
    return second == cudaErrorMemoryAllocation && noted == second ? passed()
                                                                  : failed("the second did not fail");
}

CheckResult device_is_full() {
    emu::set_device_memory(3 * kBytes);
    void* first = nullptr;
    void* second = nullptr;
    cudaMalloc(&first, 2 * kBytes);
    const cudaError_t full = cudaMalloc(&second, 2 * kBytes);
    std::size_t available = 0;
    std::size_t total = 0;
    cudaMemGetInfo(&available, &total);
    cudaFree(first);
    const cudaError_t room = cudaMalloc(&second, 2 * kBytes);
    cudaFree(second);
    emu::set_device_memory(std::size_t{8} << 30);
    if (available != kBytes || total != 3 * kBytes) return failed("cudaMemGetInfo");
    return full == cudaErrorMemoryAllocation && room == cudaSuccess ? passed()
                                                                    : failed("the limit does not hold");
}

CheckResult allocation_after_loading() {
    emu::forbid_allocation(true);
    void* memory = nullptr;
    cudaMalloc(&memory, kBytes);
    emu::forbid_allocation(false);
    cudaFree(memory);
    return expect_report(Finding::kApi);
}

CheckResult leak() {
    void* memory = nullptr;
    cudaStream_t stream = nullptr;
    cudaMalloc(&memory, kBytes);
    cudaStreamCreate(&stream);
    emu::report_leaks();
    const std::vector<emu::Report> reports = emu::take_reports();
    cudaFree(memory);
    cudaStreamDestroy(stream);
    return reports.size() == 2 && has(reports, Finding::kLeak) ? passed() : failed(text_of(reports));
}

CheckResult counted() {
    const emu::Counters before = emu::counters();
    {
        const Stream stream;
        const DeviceArray<float> x(std::vector<float>(100, 1.0F));
        const DeviceArray<float> y(100);
        copy(x.get(), y.get(), 100, stream);
        stream.wait();
    }
    const emu::Counters after = emu::counters();
    if (after.device_allocations - before.device_allocations != 2) return failed("allocations");
    if (after.kernels - before.kernels != 1 || after.cuda_threads - before.cuda_threads != 128)
        return failed("kernels");
    if (after.live_device_bytes != before.live_device_bytes) return failed("live bytes");
    const std::size_t expected = emu::build() == emu::Build::kCheck ? 400 : 0;
    if (after.bytes_read - before.bytes_read != expected) return failed("bytes read");
    return after.bytes_written - before.bytes_written == expected ? passed() : failed("bytes written");
}

CheckResult wrong_direction() {
    const DeviceArray<float> x(10);
    float host[10] = {};
    if (cudaMemcpy(x.get(), host, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess)
        return failed("accepted");
    return expect_report(Finding::kApi);
}

CheckResult copy_past_end() {
    const DeviceArray<float> x(10);
    float host[11] = {};
    cudaMemcpy(x.get(), host, sizeof host, cudaMemcpyHostToDevice);
    return expect_report(Finding::kOutOfBounds);
}

CheckResult freed_twice() {
    void* memory = nullptr;
    cudaMalloc(&memory, kBytes);
    cudaFree(memory);
    if (cudaFree(memory) == cudaSuccess) return failed("accepted");
    return expect_report(Finding::kApi);
}

CheckResult fill_and_2d_copy() {
    const Stream stream;
    const DeviceArray<std::uint8_t> x(std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6});
    const DeviceArray<std::uint8_t> y(8);
    cudaMemsetAsync(y.get(), 9, 8, stream);
    cudaMemcpy2DAsync(y.get(), 4, x.get(), 3, 2, 2, cudaMemcpyDeviceToDevice, stream);
    const std::vector<std::uint8_t> expected{1, 2, 9, 9, 4, 5, 9, 9};
    return y.values() == expected ? passed() : failed("values");
}

CheckResult pinned_memory() {
    std::vector<float> own(10);
    void* pinned = nullptr;
    cudaHostAlloc(&pinned, kBytes, cudaHostAllocDefault);
    cudaHostRegister(own.data(), own.size() * sizeof(float), cudaHostRegisterDefault);
    cudaPointerAttributes attributes = {};
    cudaPointerGetAttributes(&attributes, own.data());
    cudaHostUnregister(own.data());
    const cudaError_t freed = cudaFreeHost(pinned);
    if (attributes.type != cudaMemoryTypeHost || freed != cudaSuccess) return failed("not pinned");
    if (cudaFreeHost(pinned) == cudaSuccess) return failed("freed twice");
    return expect_report(Finding::kApi);
}

CheckResult device_properties() {
    emu::set_compute_capability(7, 5);
    cudaDeviceProp properties = {};
    int shared_bytes = 0;
    cudaGetDeviceProperties(&properties, 0);
    cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    emu::set_compute_capability(8, 0);
    const bool named = std::strcmp(properties.name, "glmchat emulator") == 0;
    if (!named || properties.major != 7 || properties.minor != 5) return failed("properties");
    return shared_bytes == 64 * 1024 ? passed() : failed("shared memory");
}

CheckResult host_dereference() {
    const DeviceArray<float> x(std::vector<float>(10, 1.0F));
    const bool faults =
        emu::host_faults([](void* address) { *static_cast<volatile float*>(address) = 2.0F; }, x.get());
    return faults ? passed() : failed("host code wrote to device memory");
}

CheckResult uninitialised_result() {
    const DeviceArray<float> x(10);
    x.values();
    return expect_report(Finding::kUninitialised);
}

/// What a child process that runs the wrong form writes before AddressSanitizer ends it.
std::string output_of_child(const Detector& detector) {
    int ends[2] = {};
    if (pipe(ends) != 0) return "no pipe";
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        const Stream stream;
        std::vector<float> values(selftest::kCount);
        std::iota(values.begin(), values.end(), 0.0F);
        const DeviceArray<float> x(values);
        const DeviceArray<float> y(values);
        const DeviceArray<unsigned> ticket(std::vector<unsigned>{0});
        float* freed = nullptr;
        cudaMalloc(&freed, selftest::kCount * sizeof(float));
        cudaFree(freed);
        detector.run({x.get(), y.get(), x.get(), freed, x.get(), ticket.get()}, 1, stream);
        stream.wait();
        _exit(0);
    }
    close(ends[1]);
    std::string output;
    char part[4096];
    for (ssize_t got = read(ends[0], part, sizeof part); got > 0; got = read(ends[0], part, sizeof part)) {
        output.append(part, static_cast<std::size_t>(got));
    }
    close(ends[0]);
    waitpid(child, nullptr, 0);
    return output;
}

CheckResult ends_program(const Detector& detector) {
    const std::string output = output_of_child(detector);
    const bool found = output.find("AddressSanitizer") != std::string::npos ||
                       output.find("runtime error") != std::string::npos;
    const bool named = output.find("detectors.cu:") != std::string::npos;
    return found && named ? passed() : failed("output: " + output);
}

std::vector<Check> address_sanitizer_checks() {
    std::vector<Check> checks;
    for (const Detector& detector : detectors()) {
        const std::string name = detector.name;
        const bool found =
            (detector.finding == Finding::kOutOfBounds || detector.finding == Finding::kArrayIndex ||
             detector.finding == Finding::kMisaligned) &&
            detector.builds == kCheck && name != "host memory";
        if (found) checks.push_back({"asan/" + name, [detector] { return ends_program(detector); }});
    }
    return checks;
}

}  // namespace

std::vector<Check> memory_checks() {
    std::vector<Check> checks{{"memory/injected failure", injected_failure},
                              {"memory/device is full", device_is_full},
                              {"memory/allocation after loading", allocation_after_loading},
                              {"memory/leak", leak},
                              {"memory/counted", counted},
                              {"memory/wrong direction", wrong_direction},
                              {"memory/copy past the end", copy_past_end},
                              {"memory/freed twice", freed_twice},
                              {"memory/fill and 2D copy", fill_and_2d_copy},
                              {"memory/pinned", pinned_memory},
                              {"memory/device properties", device_properties}};
    if (emu::build() == emu::Build::kCheck)
        checks.push_back({"memory/uninitialised result", uninitialised_result});
    if (emu::build() != emu::Build::kAsan) {
        checks.push_back({"memory/host dereference", host_dereference});
    } else {
        for (const Check& check : address_sanitizer_checks()) checks.push_back(check);
    }
    return checks;
}

}  // namespace selftest
