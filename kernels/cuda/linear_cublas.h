#pragma once

#include <cublas_v2.h>

#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/ops.h"

namespace glmchat::kernels::cuda {

/// y = x W^T + bias through cuBLAS, for the many rows of a prefill.
///
/// FP16 and BF16 weights are used where they lie; INT8 and INT4 are expanded to FP16 a tile of rows at a
/// time into a workspace of fixed size. Activations are rounded to the weight's type, as the official code
/// has them; for FP16 they are scaled by 2^-4, so that they overflow at a million instead of at 65504, where
/// activations of GLM-4 have been seen. Sums are float32. FP32 weights are multiplied in float32 (no TF32).
/// Thread: one at a time.
class LinearCublas {
  public:
    /// Throws BackendError when memory or the library fails.
    /// @param compute_major  of the device; BF16 products need 8
    LinearCublas(cudaStream_t stream, int compute_major);
    ~LinearCublas();
    LinearCublas(const LinearCublas&) = delete;
    LinearCublas& operator=(const LinearCublas&) = delete;

    /// Whether run() moves fewer bytes than the kernels that read the weight once per 16 (or 4) rows.
    bool is_better(const LinearArguments& arguments) const;
    /// Any number of rows; output kStore. Throws BackendError when cuBLAS fails.
    cudaError_t run(const LinearArguments& arguments);

  private:
    /// What cuBLAS reads: both of `type`, x times 1 / alpha.
    struct Operands {
        const void* x;
        const void* weight;  ///< [features, in_features]
        cudaDataType_t type;
        float alpha;
    };
    void multiply_float32(const LinearArguments& arguments);
    cudaError_t multiply_halves(const LinearArguments& arguments);
    void multiply(const LinearArguments& arguments, const Operands& operands, std::int32_t first_feature,
                  std::int32_t num_features);

    cudaStream_t stream_;
    const bool multiplies_bfloat16_;
    cublasHandle_t handle_ = nullptr;
    DeviceMemory rounded_;    ///< activations in 16 bits
    DeviceMemory expanded_;   ///< a tile of the weight in FP16
    DeviceMemory workspace_;  ///< cuBLAS's own, so that it allocates nothing
};

}  // namespace glmchat::kernels::cuda
