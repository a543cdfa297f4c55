#include "tests/kernels/cuda/cuda_check_parts.h"

namespace glmchat::test {

std::vector<Check> all_checks() {
    std::vector<Check> checks;
    for (const auto part : {cuda_norm_checks, cuda_elementwise_checks, cuda_rotary_checks, cuda_linear_checks,
                            cuda_attention_checks, cuda_backend_checks, cuda_model_checks}) {
        std::vector<Check> more = part();
        checks.insert(checks.end(), more.begin(), more.end());
    }
    return checks;
}

}  // namespace glmchat::test
