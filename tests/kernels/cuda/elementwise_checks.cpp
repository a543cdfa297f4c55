#include <cmath>

#include "tests/kernels/cuda/cuda_check_parts.h"
#include "tests/kernels/cuda/device_data.h"

#include "kernels/reference/ops.h"

namespace glmchat::test {
namespace {

using kernels::LinearWeight;

constexpr std::int32_t kTokenIds[] = {9, 0, 3, 3, 8};

/// Exact: one product, or two for scaled weights in the same order as the reference.
CheckResult check_embedding(const WeightFormat& format) {
    const Stream stream;
    for (const std::int64_t cols : {2, 30, 64, 256, 258}) {
        RandomData random(static_cast<std::uint32_t>(cols));
        const LinearWeight table = random_weight(format, 10, cols, random);
        kernels::RaggedBatch batch;
        batch.token_ids = kTokenIds;
        std::vector<float> expected(std::size(kTokenIds) * static_cast<std::size_t>(cols));
        kernels::reference::embedding(table, batch, host_matrix(expected, std::ssize(kTokenIds), cols));
        const DeviceWeight device_table(table, stream);
        const DeviceArray<std::int32_t> ids(std::span<const std::int32_t>(kTokenIds), stream);
        const DeviceArray<float> hidden_states(expected.size());
        kernels::cuda::DeviceBatch device_batch;
        device_batch.token_ids = ids.data();
        device_batch.num_tokens = static_cast<std::int32_t>(std::size(kTokenIds));
        require(kernels::cuda::embedding(device_table.view(), device_batch, hidden_states.data(), stream));
        if (hidden_states.download(stream) != expected) return failed(std::to_string(cols) + " columns");
    }
    return passed();
}

CheckResult check_add() {
    const Stream stream;
    for (const std::int64_t count : {1, 3, 4, 5, 1023, 1024, 1025, 4099}) {
        RandomData random(static_cast<std::uint32_t>(count));
        std::vector<float> residual = random.normal(count);
        std::vector<float> delta = random.normal(count);
        const DeviceArray<float> device_residual(residual, stream);
        const DeviceArray<float> device_delta(delta, stream);
        require(kernels::cuda::add(device_residual.data(), device_delta.data(), count, stream));
        kernels::reference::add(host_matrix(residual, 1, count), host_matrix(delta, 1, count));
        if (device_residual.download(stream) != residual) return failed(std::to_string(count) + " elements");
    }
    return passed();
}

/// The exponential of either side is good to 2^-22, the sigmoid inherits that; two roundings more.
CheckResult check_swiglu() {
    const Stream stream;
    double largest = 0.0;
    for (const std::int64_t ffn : {1, 2, 96, 255, 256, 257, 512}) {
        RandomData random(static_cast<std::uint32_t>(ffn));
        constexpr std::int64_t kRows = 3;
        std::vector<float> gate_up = random.normal(kRows * 2 * ffn, 4.0F);
        gate_up[0] = -200.0F;  // its exponential is infinite
        gate_up.back() = 60000.0F;
        std::vector<float> expected(static_cast<std::size_t>(kRows * ffn));
        kernels::reference::swiglu(host_matrix(gate_up, kRows, 2 * ffn), host_matrix(expected, kRows, ffn));
        const DeviceArray<float> device_gate_up(gate_up, stream);
        const DeviceArray<float> y(expected.size());
        require(kernels::cuda::swiglu(device_gate_up.data(), y.data(), kRows, static_cast<std::int32_t>(ffn),
                                      stream));
        const std::string difference = compare(
            y.download(stream), expected,
            [&](std::size_t i) { return 0x1p-21 * std::abs(double{expected[i]}) + 0x1p-60; }, largest);
        if (!difference.empty()) return failed(std::to_string(ffn) + " columns: " + difference);
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

CheckResult check_gather() {
    const Stream stream;
    const std::vector<std::int32_t> row_ids = {4, 0, 4, 2};
    for (const std::int64_t cols : {1, 64, 256, 257}) {
        RandomData random(static_cast<std::uint32_t>(cols));
        std::vector<float> x = random.normal(5 * cols);
        std::vector<float> expected(row_ids.size() * static_cast<std::size_t>(cols));
        kernels::reference::gather_rows(host_matrix(x, 5, cols), row_ids, host_matrix(expected, 4, cols));
        const DeviceArray<float> device_x(x, stream);
        const DeviceArray<std::int32_t> ids(row_ids, stream);
        const DeviceArray<float> y(expected.size());
        require(kernels::cuda::gather_rows(device_x.data(), ids.data(), y.data(), 4,
                                           static_cast<std::int32_t>(cols), stream));
        if (y.download(stream) != expected) return failed(std::to_string(cols) + " columns");
    }
    return passed();
}

}  // namespace

std::vector<Check> cuda_elementwise_checks() {
    std::vector<Check> checks = {{"elementwise/add", check_add},
                                 {"elementwise/swiglu", check_swiglu},
                                 {"elementwise/gather_rows", check_gather}};
    for (const WeightFormat& format : all_weight_formats()) {
        checks.push_back(
            {"elementwise/embedding " + format_name(format), [format] { return check_embedding(format); }});
    }
    return checks;
}

}  // namespace glmchat::test
