#include <cmath>
#include <cstring>
#include <random>

#include "tests/cuda_emulator/selftest/selftest_support.h"
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace selftest {
namespace {

using namespace glmchat::test;
using emu::Finding;

/// Extents with leading dimensions larger than the rows, and two matrices in a batch.
constexpr int kM = 5;
constexpr int kN = 3;
constexpr int kK = 7;
constexpr int kLeading = 9;
constexpr int kBatches = 2;
constexpr int kMatrix = kLeading * 8;  // elements from one matrix to the next

class Handle {
  public:
    explicit Handle(cudaStream_t stream) {
        cublasCreate(&handle_);
        cublasSetStream(handle_, stream);
    }
    ~Handle() { cublasDestroy(handle_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    operator cublasHandle_t() const { return handle_; }

  private:
    cublasHandle_t handle_ = nullptr;
};

std::vector<std::uint8_t> encoded(const std::vector<float>& values, cudaDataType type) {
    const std::size_t size = type == CUDA_R_32F ? 4 : 2;
    std::vector<std::uint8_t> bytes(values.size() * size);
    for (std::size_t i = 0; i < values.size(); ++i) {
        const __half half_value = __float2half_rn(values[i]);
        const __nv_bfloat16 bf16_value = __float2bfloat16_rn(values[i]);
        const void* const source = type == CUDA_R_16F    ? static_cast<const void*>(&half_value)
                                   : type == CUDA_R_16BF ? static_cast<const void*>(&bf16_value)
                                                         : static_cast<const void*>(&values[i]);
        std::memcpy(bytes.data() + i * size, source, size);
    }
    return bytes;
}

float decoded(const std::vector<std::uint8_t>& bytes, std::size_t i, cudaDataType type) {
    if (type == CUDA_R_32F) {
        float value = 0.0F;
        std::memcpy(&value, bytes.data() + 4 * i, 4);
        return value;
    }
    unsigned short bits = 0;
    std::memcpy(&bits, bytes.data() + 2 * i, 2);
    return type == CUDA_R_16F ? __half2float(__ushort_as_half(bits))
                              : __bfloat162float(__ushort_as_bfloat16(bits));
}

std::vector<float> random_values(unsigned seed) {
    std::mt19937 generator(seed);
    std::vector<float> values(kMatrix * kBatches);
    for (float& value : values) value = static_cast<float>(static_cast<int>(generator() % 15) - 7);
    return values;
}

float element(const std::vector<float>& matrix, int batch, int row, int col, bool transposed) {
    const int at = batch * kMatrix + (transposed ? row * kLeading + col : col * kLeading + row);
    return matrix[static_cast<std::size_t>(at)];
}

CheckResult product(cublasOperation_t op_a, cublasOperation_t op_b, cudaDataType input, cudaDataType output) {
    const std::vector<float> a = random_values(1);
    const std::vector<float> b = random_values(2);
    const std::vector<float> c = random_values(3);
    const Stream stream;
    const Handle handle(stream);
    const DeviceArray<std::uint8_t> device_a(encoded(a, input));
    const DeviceArray<std::uint8_t> device_b(encoded(b, input));
    const DeviceArray<std::uint8_t> device_c(encoded(c, output));
    const float alpha = 0.5F;
    const float beta = 2.0F;
    const cublasStatus_t status = cublasGemmStridedBatchedEx(
        handle, op_a, op_b, kM, kN, kK, &alpha, device_a.get(), input, kLeading, kMatrix, device_b.get(),
        input, kLeading, kMatrix, &beta, device_c.get(), output, kLeading, kMatrix, kBatches,
        CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    if (status != CUBLAS_STATUS_SUCCESS) return failed("status");
    const std::vector<std::uint8_t> result = device_c.values();
    for (int batch = 0; batch < kBatches; ++batch) {
        for (int i = 0; i < kM * kN; ++i) {
            const int row = i % kM;
            const int col = i / kM;
            float sum = 0.0F;
            for (int k = 0; k < kK; ++k) {
                sum += element(a, batch, row, k, op_a == CUBLAS_OP_T) *
                       element(b, batch, k, col, op_b == CUBLAS_OP_T);
            }
            const float expected = alpha * sum + beta * element(c, batch, row, col, false);
            const auto at = static_cast<std::size_t>(batch * kMatrix + col * kLeading + row);
            if (std::abs(decoded(result, at, output) - expected) > std::abs(expected) / 128.0F) {
                return failed("element " + std::to_string(i));
            }
        }
    }
    return passed();
}

/// m = n = k = 4 with FP16 operands of 16 elements, from arrays of which one may be too short or empty.
CheckResult small_product(const DeviceArray<std::uint16_t>& a, int leading, Finding expected) {
    const Stream stream;
    const Handle handle(stream);
    const DeviceArray<std::uint16_t> b(std::vector<std::uint16_t>(16, 0));
    const DeviceArray<std::uint16_t> c(16);
    const float one = 1.0F;
    const float zero = 0.0F;
    cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, 4, 4, 4, &one, a.get(), CUDA_R_16F, leading, b.get(),
                 CUDA_R_16F, 4, &zero, c.get(), CUDA_R_16F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    stream.wait();
    return expect_report(expected);
}

CheckResult operand_too_short() {
    return small_product(DeviceArray<std::uint16_t>(std::vector<std::uint16_t>(15, 0)), 4,
                         Finding::kOutOfBounds);
}

CheckResult operand_uninitialised() {
    return small_product(DeviceArray<std::uint16_t>(16), 4, Finding::kUninitialised);
}

CheckResult leading_dimension_too_small() {
    return small_product(DeviceArray<std::uint16_t>(std::vector<std::uint16_t>(16, 0)), 3, Finding::kApi);
}

}  // namespace

std::vector<Check> cublas_checks() {
    std::vector<Check> checks{
        {"cublas/T N, FP16", [] { return product(CUBLAS_OP_T, CUBLAS_OP_N, CUDA_R_16F, CUDA_R_16F); }},
        {"cublas/N T, FP16 to FP32",
         [] { return product(CUBLAS_OP_N, CUBLAS_OP_T, CUDA_R_16F, CUDA_R_32F); }},
        {"cublas/N N, BF16 to FP32",
         [] { return product(CUBLAS_OP_N, CUBLAS_OP_N, CUDA_R_16BF, CUDA_R_32F); }},
        {"cublas/T T, BF16", [] { return product(CUBLAS_OP_T, CUBLAS_OP_T, CUDA_R_16BF, CUDA_R_16BF); }},
        {"cublas/T N, FP32", [] { return product(CUBLAS_OP_T, CUBLAS_OP_N, CUDA_R_32F, CUDA_R_32F); }},
        {"cublas/operand too short", operand_too_short},
        {"cublas/leading dimension too small", leading_dimension_too_small}};
    if (emu::build() == emu::Build::kCheck)
        checks.push_back({"cublas/operand uninitialised", operand_uninitialised});
    return checks;
}

}  // namespace selftest
