#include <cstring>

#include "cuda_emulator/control.h"
#include "tests/kernels/cuda/cuda_check_parts.h"
#include "tests/kernels/cuda/device_memory.h"
#include "tests/kernels/test_data.h"

#include "kernels/backend.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/op_recorder.h"
#include "kernels/half.h"

/// What CudaBackend adds to the kernels: memory, recording and joining of stages, errors.
namespace glmchat::test {
namespace {

using kernels::Backend;
using kernels::BackendError;
using kernels::ElementType;
using kernels::Tensor;
using kernels::cuda::CudaBackend;

CheckResult check_zero_filled() {
    CudaBackend backend(0);
    for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{3} << 20}) {
        const kernels::Buffer buffer = backend.allocate(size);
        std::vector<std::byte> bytes(size, std::byte{1});
        backend.download(bytes.data(), buffer.data(), size);
        if (bytes != std::vector<std::byte>(size))
            return failed(std::to_string(size) + " bytes are not zero");
    }
    return passed();
}

/// More than both staging parts hold.
CheckResult check_large_copy() {
    CudaBackend backend(0);
    std::vector<std::uint32_t> numbers((std::size_t{20} << 20) / 4 + 3);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i * 2654435761U);
    const kernels::Buffer buffer = backend.allocate(numbers.size() * 4);
    backend.upload(buffer.data(), numbers.data(), numbers.size() * 4);
    std::vector<std::uint32_t> back(numbers.size());
    backend.download(back.data(), buffer.data(), back.size() * 4);
    return back == numbers ? passed() : failed("bytes changed on the way");
}

CheckResult check_out_of_memory() {
    CudaBackend backend(0);
    constexpr std::size_t kTooMuch = std::size_t{1} << 40;
    try {
        const kernels::Buffer buffer = backend.allocate(kTooMuch);
        return failed("allocate did not throw");
    } catch (const BackendError& error) {
        if (error.kind != BackendError::Kind::kOutOfMemory) return failed("wrong kind");
        if (error.needed_bytes != kTooMuch || error.free_bytes == 0)
            return failed("needed or free bytes are wrong");
    }
    const kernels::Buffer buffer = backend.allocate(100);  // the device goes on
    return passed();
}

/// Every single allocation that making a backend needs may fail; nothing leaks (the last check of the
/// program looks).
CheckResult check_failing_start() {
    for (std::size_t n = 1; n < 100; ++n) {
        emu::fail_allocation(n);
        try {
            const CudaBackend backend(0);
            emu::fail_allocation(0);
            return n > 3 ? passed(std::to_string(n - 1) + " allocations")
                         : failed("hardly anything was allocated");
        } catch (const BackendError& error) {
            if (error.kind != BackendError::Kind::kOutOfMemory) return failed(error.what());
        }
    }
    return failed("never succeeded");
}

CheckResult check_prepare_vector() {
    CudaBackend backend(0);
    const std::vector<float> values = {0.0F, -1.5F, 3.140625F, 65504.0F, 0.5F};  // exact in all three types
    for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16}) {
        std::vector<std::byte> stored(1 + 4 * values.size());  // from an odd address
        std::vector<float> expected = values;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::uint16_t bits = type == ElementType::kFloat16 ? kernels::float_to_half(values[i])
                                                                     : kernels::float_to_bfloat16(values[i]);
            if (type == ElementType::kFloat32) {
                std::memcpy(&stored[1 + 4 * i], &values[i], 4);
            } else {
                std::memcpy(&stored[1 + 2 * i], &bits, 2);
            }
            if (type == ElementType::kBFloat16) expected[i] = kernels::bfloat16_to_float(bits);
        }
        const auto count = static_cast<std::int64_t>(values.size());
        if (download(backend, backend.prepare_vector(&stored[1], type, count), count) != expected) {
            return failed("type " + std::to_string(static_cast<int>(type)));
        }
    }
    return passed();
}

/// A linear layer on every route: few rows, many rows, cuBLAS; biases; all formats; weights from odd
/// addresses.
/// @param tolerance  of a sum of |x w|
std::string check_linear(const WeightFormat& format, std::int64_t rows, double tolerance, double& largest) {
    RandomData random(static_cast<std::uint32_t>(rows));
    constexpr std::int64_t kOut = 36;
    constexpr std::int64_t kIn = 128;
    const kernels::LinearWeight weight = random_weight(format, kOut, kIn, random);
    const std::vector<float> x = random.normal(rows * kIn);
    const std::vector<float> bias = random.normal(kOut);
    std::vector<std::vector<float>> results;
    for (const bool on_cuda : {false, true}) {
        const std::unique_ptr<Backend> backend =
            on_cuda ? std::make_unique<CudaBackend>(0) : kernels::make_reference_backend();
        const kernels::LinearWeight prepared = backend->prepare_weight(weight);
        const kernels::Buffer x_buffer = upload(*backend, x);
        const kernels::Buffer bias_buffer = upload(*backend, bias);
        const kernels::Buffer y = backend->allocate(static_cast<std::size_t>(rows * kOut) * sizeof(float));
        backend->linear(float_matrix(x_buffer, rows, kIn), prepared, bias_buffer.as_float(),
                        float_matrix(y, rows, kOut));
        results.push_back(download(*backend, y, rows * kOut));
    }
    const double scale = format.layout == kernels::ScaleLayout::kNone ? 1.0 : 4.0;  // q * scale, about
    const std::string difference = compare(
        results[1], results[0], [&](std::size_t) { return tolerance * kIn * scale; }, largest);
    return difference.empty() ? difference : std::to_string(rows) + " rows: " + difference;
}

CheckResult check_linear_routes(const WeightFormat& format) {
    double largest = 0.0;
    for (const std::int64_t rows : {1, 16, 17, 65, 129}) {
        // Rounded activations are off by 2^-12 (FP16), 2^-9 (BF16) of each product, with random signs.
        const bool is_rounded = rows > 16 && format.type != ElementType::kFloat32;
        const double tolerance = !is_rounded                             ? 0x1p-20
                                 : format.type == ElementType::kBFloat16 ? 0x1p-9
                                                                         : 0x1p-11;
        const std::string difference = check_linear(format, rows, tolerance, largest);
        if (!difference.empty()) return failed(difference);
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

/// gather_rows joined with the norm behind it, alone, twice, and read by something else.
CheckResult check_gather() {
    RandomData random(3);
    const std::vector<float> x = random.normal(6 * 32);
    const std::vector<float> weight = random.normal(32);
    const std::vector<std::int32_t> rows = {5, 0, 2};
    std::vector<std::vector<float>> results;
    for (const bool on_cuda : {false, true}) {
        const std::unique_ptr<Backend> backend =
            on_cuda ? std::make_unique<CudaBackend>(0) : kernels::make_reference_backend();
        const kernels::Buffer x_buffer = upload(*backend, x);
        const kernels::Buffer weight_buffer = upload(*backend, weight);
        const kernels::Buffer first = backend->allocate(3 * 32 * sizeof(float));
        const kernels::Buffer second = backend->allocate(3 * 32 * sizeof(float));
        const Tensor source = float_matrix(x_buffer, 6, 32);
        backend->gather_rows(source, rows, float_matrix(first, 3, 32));
        backend->rms_norm(float_matrix(first, 3, 32), weight_buffer.as_float(), 1e-5F,
                          float_matrix(first, 3, 32));
        backend->gather_rows(source, rows, float_matrix(second, 3, 32));
        backend->add(float_matrix(second, 3, 32), float_matrix(first, 3, 32));
        results.push_back(download(*backend, first, 3 * 32));
        results.push_back(download(*backend, second, 3 * 32));
    }
    double largest = 0.0;
    const auto tolerance = [](std::size_t) { return 1e-5; };
    std::string difference = compare(results[2], results[0], tolerance, largest);
    if (difference.empty()) difference = compare(results[3], results[1], tolerance, largest);
    return difference.empty() ? passed() : failed(difference);
}

/// A pass with a known signature is replayed without asking for its launches again; others are captured, and
/// the oldest of many given up.
CheckResult check_recorder() {
    const Stream stream;
    const DeviceArray<float> sum(std::vector<float>(4, 0.0F), stream);
    const DeviceArray<float> one(std::vector<float>(4, 1.0F), stream);
    kernels::cuda::OpRecorder recorder(stream);
    int num_launches = 0;
    const auto pass = [&](std::uint64_t signature, bool as_graph) {
        recorder.add("an addition", {signature}, [&](cudaStream_t on) {
            ++num_launches;
            return kernels::cuda::add(sum.data(), one.data(), 4, on);
        });
        recorder.flush(as_graph);
    };
    pass(1, true);
    pass(1, true);
    if (num_launches != 1) return failed("a known pass was captured again");
    pass(1, false);
    if (num_launches != 2) return failed("a pass that is no graph was not launched");
    for (std::uint64_t signature = 2; signature < 20; ++signature) pass(signature, true);
    if (num_launches != 20) return failed("a new pass was not captured");
    pass(1, true);
    if (num_launches != 21) return failed("the oldest graph was kept");
    return sum.download(stream) == std::vector<float>(4, 22.0F) ? passed()
                                                                : failed("a pass did not run once");
}

/// A launch that fails while it is captured ends the capture; the stream can be used again.
CheckResult check_failed_capture() {
    const Stream stream;
    kernels::cuda::OpRecorder recorder(stream);
    recorder.add("a stage", {1}, [](cudaStream_t) { return cudaErrorInvalidValue; });
    try {
        recorder.flush(true);
        return failed("nothing was thrown");
    } catch (const BackendError& error) {
        if (error.kind != BackendError::Kind::kDeviceFailure) return failed("wrong kind");
    }
    const DeviceArray<float> sum(std::vector<float>(4, 1.0F), stream);
    recorder.add("an addition", {1},
                 [&](cudaStream_t on) { return kernels::cuda::add(sum.data(), sum.data(), 4, on); });
    recorder.flush(true);
    return sum.download(stream) == std::vector<float>(4, 2.0F) ? passed()
                                                               : failed("the next pass went wrong");
}

/// More gathered rows than the index memory holds at first.
CheckResult check_many_gathers() {
    CudaBackend backend(0);
    const std::vector<float> x = {1.0F, 2.0F, 3.0F, 4.0F};
    const kernels::Buffer source = upload(backend, x);
    const std::vector<std::int32_t> rows(70000, 3);
    const kernels::Buffer y = backend.allocate(rows.size() * sizeof(float));
    for (int i = 0; i < 2; ++i) {
        backend.gather_rows(float_matrix(source, 4, 1), rows, float_matrix(y, 70000, 1));
        if (download(backend, y, 70000) != std::vector<float>(70000, 4.0F)) return failed("wrong rows");
    }
    return passed();
}

}  // namespace

std::vector<Check> cuda_backend_checks() {
    std::vector<Check> checks = {{"backend/zero-filled", check_zero_filled},
                                 {"backend/large copies", check_large_copy},
                                 {"backend/out of memory", check_out_of_memory},
                                 {"backend/each allocation of the start fails", check_failing_start},
                                 {"backend/vectors become float32", check_prepare_vector},
                                 {"backend/gather_rows", check_gather},
                                 {"backend/graphs are replayed", check_recorder},
                                 {"backend/failed capture", check_failed_capture},
                                 {"backend/many gathered rows", check_many_gathers}};
    for (const WeightFormat& format : all_weight_formats()) {
        if (format.group_size == 24 || format.group_size == 32) continue;
        checks.push_back(
            {"backend/linear " + format_name(format), [format] { return check_linear_routes(format); }});
    }
    return checks;
}

}  // namespace glmchat::test
