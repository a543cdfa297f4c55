#include <cassert>
#include <cmath>

#include "kernels/reference/ops.h"

namespace glmchat::kernels::reference {

void rms_norm(Tensor x, const float* weight, float eps, Tensor y) {
    assert(x.rows == y.rows && x.cols == y.cols);
    for (std::int64_t row = 0; row < x.rows; ++row) {
        const float* in = x.as_float() + row * x.cols;
        float* out = y.as_float() + row * y.cols;
        float sum_of_squares = 0.0F;
        for (std::int64_t i = 0; i < x.cols; ++i) sum_of_squares += in[i] * in[i];
        const float mean = sum_of_squares / static_cast<float>(x.cols);
        const float inverse_rms = 1.0F / std::sqrt(mean + eps);
        for (std::int64_t i = 0; i < x.cols; ++i) out[i] = in[i] * inverse_rms * weight[i];
    }
}

void add(Tensor residual, Tensor delta) {
    assert(residual.rows == delta.rows && residual.cols == delta.cols);
    for (std::int64_t i = 0; i < residual.rows * residual.cols; ++i)
        residual.as_float()[i] += delta.as_float()[i];
}

void add_rms_norm(Tensor residual, Tensor delta, const float* weight, float eps, Tensor y) {
    add(residual, delta);
    rms_norm(residual, weight, eps, y);
}

}  // namespace glmchat::kernels::reference
