#include "tests/kernels/check_parts.h"

namespace glmchat::test {

std::vector<Check> all_checks() {
    std::vector<Check> checks;
    for (const auto part : {half_checks, rotary_checks, reference_checks, linear_checks, attention_checks,
                            elementwise_checks, memory_checks, thread_pool_checks}) {
        std::vector<Check> more = part();
        checks.insert(checks.end(), more.begin(), more.end());
    }
    return checks;
}

}  // namespace glmchat::test
