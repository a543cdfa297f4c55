#include <cassert>
#include <cmath>

#include "kernels/reference/ops.h"

namespace glmchat::kernels::reference {

void swiglu(Tensor gate_up, Tensor y) {
    assert(gate_up.rows == y.rows && gate_up.cols == 2 * y.cols);
    for (std::int64_t row = 0; row < y.rows; ++row) {
        const float* gate = gate_up.as_float() + row * gate_up.cols;
        const float* up = gate + y.cols;
        for (std::int64_t i = 0; i < y.cols; ++i) {
            const float silu = gate[i] / (1.0F + std::exp(-gate[i]));
            y.as_float()[row * y.cols + i] = silu * up[i];
        }
    }
}

}  // namespace glmchat::kernels::reference
