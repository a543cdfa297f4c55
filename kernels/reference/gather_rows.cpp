#include <algorithm>
#include <cassert>

#include "kernels/reference/ops.h"

namespace glmchat::kernels::reference {

void gather_rows(Tensor x, std::span<const std::int32_t> rows, Tensor y) {
    assert(y.rows == static_cast<std::int64_t>(rows.size()) && x.cols == y.cols);
    float* out = y.as_float();
    for (const std::int32_t row : rows) {
        assert(row >= 0 && row < x.rows);
        out = std::copy_n(x.as_float() + row * x.cols, x.cols, out);
    }
}

}  // namespace glmchat::kernels::reference
