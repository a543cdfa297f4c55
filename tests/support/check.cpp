#include "tests/support/check.h"

#include <cstdio>
#include <exception>
#include <utility>

namespace glmchat::test {

CheckResult passed(std::string figures) { return {CheckResult::Outcome::kPassed, std::move(figures)}; }
CheckResult failed(std::string why) { return {CheckResult::Outcome::kFailed, std::move(why)}; }
CheckResult skipped(std::string why) { return {CheckResult::Outcome::kSkipped, std::move(why)}; }

int run_checks(const std::vector<Check>& checks, const std::string& filter) {
    static constexpr const char* kWords[] = {"PASS", "FAIL", "SKIP"};
    int counts[3] = {0, 0, 0};
    for (const Check& check : checks) {
        if (check.name.find(filter) == std::string::npos) continue;
        CheckResult result;
        try {
            result = check.run();
        } catch (const std::exception& error) {
            result = failed(std::string("threw: ") + error.what());
        }
        const auto outcome = static_cast<int>(result.outcome);
        ++counts[outcome];
        std::printf("%s %s%s%s\n", kWords[outcome], check.name.c_str(), result.message.empty() ? "" : ": ",
                    result.message.c_str());
        std::fflush(stdout);
    }
    std::printf("%d passed, %d failed, %d skipped\n", counts[0], counts[1], counts[2]);
    return counts[1];
}

}  // namespace glmchat::test
