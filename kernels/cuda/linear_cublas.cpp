#include "kernels/cuda/linear_cublas.h"

#include <algorithm>
#include <string>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/linear_expand.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr std::size_t kTileBytes = std::size_t{32} << 20;
constexpr std::size_t kWorkspaceBytes = std::size_t{32}
                                        << 20;  // what cuBLAS recommends on its largest devices
constexpr float kHalfScale = 0x1p-4F;

void check_cublas(cublasStatus_t status, const char* what) {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    throw BackendError(status == CUBLAS_STATUS_ALLOC_FAILED ? BackendError::Kind::kOutOfMemory
                                                            : BackendError::Kind::kDeviceFailure,
                       std::string("cuBLAS: ") + what + " failed with status " + std::to_string(status));
}

bool is_quantised(ElementType type) {
    return type == ElementType::kInt8 || type == ElementType::kInt4;
}

/// Rows of `cols` 16-bit elements that fit a tile.
std::int32_t rows_per_tile(std::int32_t cols) {
    return static_cast<std::int32_t>(
        std::max<std::size_t>(1, kTileBytes / (2 * static_cast<std::size_t>(cols))));
}

LinearArguments rows_of(const LinearArguments& arguments, std::int32_t first, std::int32_t count) {
    LinearArguments part = arguments;
    part.x = arguments.x + std::int64_t{first} * arguments.weight.in_features;
    part.y = arguments.y + std::int64_t{first} * arguments.weight.out_features;
    part.rows = count;
    return part;
}

}  // namespace

LinearCublas::LinearCublas(cudaStream_t stream, int compute_major)
    : stream_(stream),
      multiplies_bfloat16_(compute_major >= 8),
      rounded_(kTileBytes),
      expanded_(kTileBytes),
      workspace_(kWorkspaceBytes) {
    check_cublas(cublasCreate(&handle_), "starting");
    check_cublas(cublasSetStream(handle_, stream_), "choosing the stream");
    check_cublas(cublasSetWorkspace(handle_, workspace_.data(), kWorkspaceBytes), "setting the workspace");
}

LinearCublas::~LinearCublas() {
    cublasDestroy(handle_);
}

/// Per weight, linear_mma reads its bytes once per 16 rows; expanding it reads them once, writes 2 and reads
/// 2 again.
bool LinearCublas::is_better(const LinearArguments& arguments) const {
    switch (arguments.weight.type) {
        case ElementType::kInt4:
            return arguments.rows > 128;  // 0.5 * rows / 16 > 0.5 + 4, rounded to a power of two
        case ElementType::kInt8:
            return arguments.rows > 64;  // 1 * rows / 16 > 1 + 4
        case ElementType::kBFloat16:
            return arguments.rows > kMaxMmaRows && multiplies_bfloat16_;
        default:
            return arguments.rows > kMaxMmaRows;
    }
}

cudaError_t LinearCublas::run(const LinearArguments& arguments) {
    if (arguments.output != LinearOutput::kStore) return cudaErrorInvalidValue;
    const bool halves = arguments.weight.type != ElementType::kFloat32;
    const std::int32_t most = halves ? rows_per_tile(arguments.weight.in_features) : arguments.rows;
    for (std::int32_t row = 0; row < arguments.rows; row += most) {
        const LinearArguments part = rows_of(arguments, row, std::min(most, arguments.rows - row));
        if (!halves) {
            multiply_float32(part);
            continue;
        }
        const cudaError_t result = multiply_halves(part);
        if (result != cudaSuccess) return result;
    }
    if (arguments.bias == nullptr) return cudaSuccess;
    return add_bias(arguments.y, arguments.bias, arguments.rows, arguments.weight.out_features, stream_);
}

void LinearCublas::multiply_float32(const LinearArguments& arguments) {
    multiply(arguments, {arguments.x, arguments.weight.data, CUDA_R_32F, 1.0F}, 0,
             arguments.weight.out_features);
}

cudaError_t LinearCublas::multiply_halves(const LinearArguments& arguments) {
    const WeightView& weight = arguments.weight;
    const bool is_bfloat16 = weight.type == ElementType::kBFloat16;
    cudaError_t result = round_activations(arguments.x, is_bfloat16 ? 1.0F : kHalfScale,
                                           is_bfloat16 ? weight.type : ElementType::kFloat16, rounded_.data(),
                                           std::int64_t{arguments.rows} * weight.in_features, stream_);
    if (result != cudaSuccess) return result;
    const float alpha = is_bfloat16 ? 1.0F : 1.0F / kHalfScale;
    if (!is_quantised(weight.type)) {
        const cudaDataType_t type = is_bfloat16 ? CUDA_R_16BF : CUDA_R_16F;
        multiply(arguments, {rounded_.data(), weight.data, type, alpha}, 0, weight.out_features);
        return cudaSuccess;
    }
    const std::int32_t most = rows_per_tile(weight.in_features);
    for (std::int32_t feature = 0; feature < weight.out_features; feature += most) {
        const std::int32_t count = std::min(most, weight.out_features - feature);
        result = expand_weight(weight, feature, count, expanded_.data(), stream_);
        if (result != cudaSuccess) return result;
        multiply(arguments, {rounded_.data(), expanded_.data(), CUDA_R_16F, alpha}, feature, count);
    }
    return cudaSuccess;
}

/// Columns first_feature … of y. cuBLAS sees row-major matrices as their transposes: y^T = W x^T, where W^T
/// and x^T are what lies in memory.
void LinearCublas::multiply(const LinearArguments& arguments, const Operands& operands,
                            std::int32_t first_feature, std::int32_t num_features) {
    const std::int32_t in_features = arguments.weight.in_features;
    const float beta = 0.0F;
    check_cublas(cublasGemmEx(handle_, CUBLAS_OP_T, CUBLAS_OP_N, num_features, arguments.rows, in_features,
                              &operands.alpha, operands.weight, operands.type, in_features, operands.x,
                              operands.type, in_features, &beta, arguments.y + first_feature, CUDA_R_32F,
                              arguments.weight.out_features, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                 "a product");
}

}  // namespace glmchat::kernels::cuda
