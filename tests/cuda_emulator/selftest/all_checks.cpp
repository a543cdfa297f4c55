#include "tests/cuda_emulator/selftest/selftest_support.h"

std::vector<glmchat::test::Check> glmchat::test::all_checks() {
    std::vector<Check> checks;
    for (const auto& part :
         {selftest::detector_checks(), selftest::instruction_checks(), selftest::stream_checks(),
          selftest::graph_checks(), selftest::memory_checks(), selftest::cublas_checks()}) {
        checks.insert(checks.end(), part.begin(), part.end());
    }
    return checks;
}
