#include <cassert>
#include <vector>

#include "kernels/reference/dequantize.h"
#include "kernels/reference/ops.h"

namespace glmchat::kernels::reference {

void linear(Tensor x, const LinearWeight& weight, const float* bias, Tensor y) {
    assert(x.rows == y.rows && x.cols == weight.in_features && y.cols == weight.out_features);
    std::vector<float> weight_row(static_cast<std::size_t>(weight.in_features));
    for (std::int64_t n = 0; n < weight.out_features; ++n) {
        dequantize_row(weight, n, weight_row.data());
        for (std::int64_t row = 0; row < x.rows; ++row) {
            const float* in = x.as_float() + row * x.cols;
            float sum = 0.0F;
            for (std::int64_t k = 0; k < weight.in_features; ++k)
                sum += in[k] * weight_row[static_cast<std::size_t>(k)];
            y.as_float()[row * y.cols + n] = bias == nullptr ? sum : sum + bias[n];
        }
    }
}

}  // namespace glmchat::kernels::reference
