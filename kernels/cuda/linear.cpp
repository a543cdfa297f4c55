#include <algorithm>

#include "kernels/cuda/ops.h"

namespace glmchat::kernels::cuda {
namespace {

cudaError_t linear_mma_by_rows(const LinearArguments& arguments, cudaStream_t stream) {
    LinearArguments part = arguments;
    for (std::int32_t row = 0; row < arguments.rows; row += kMaxMmaRows) {
        part.x = arguments.x + std::int64_t{row} * arguments.weight.in_features;
        part.y = arguments.y + std::int64_t{row} * arguments.weight.out_features;
        part.rows = std::min(kMaxMmaRows, arguments.rows - row);
        const cudaError_t result = linear_mma(part, stream);
        if (result != cudaSuccess) return result;
    }
    return cudaSuccess;
}

}  // namespace

bool linear_can_finish(const LinearArguments& arguments) {
    return arguments.rows <= kMaxMmaRows;
}

cudaError_t linear(const LinearArguments& arguments, cudaStream_t stream) {
    if (arguments.output != LinearOutput::kStore && !linear_can_finish(arguments))
        return cudaErrorInvalidValue;
    if (!linear_mma_supports(arguments.weight)) return linear_gemv(arguments, stream);
    return linear_mma_by_rows(arguments, stream);
}

}  // namespace glmchat::kernels::cuda
