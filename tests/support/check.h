#pragma once

#include <functional>
#include <string>
#include <vector>

namespace glmchat::test {

/// Outcome of one check. A check that cannot run here (no kit, no device) is skipped with its reason, never passed.
struct CheckResult {
    enum class Outcome { kPassed, kFailed, kSkipped };
    Outcome outcome = Outcome::kPassed;
    std::string message;  ///< why it failed or was skipped; measured figures when it passed (printed)
};

CheckResult passed(std::string figures = {});
CheckResult failed(std::string why);
CheckResult skipped(std::string why);

/// One row of a table of checks: a plain function, so that a runner without Qt can drive it too.
struct Check {
    std::string name;  ///< "part/case", shown by both runners; the runner without Qt filters on it
    std::function<CheckResult()> run;
};

/// Defined once per check program.
std::vector<Check> all_checks();

/// Runs every check whose name contains `filter`, prints a line each and a closing "N passed, N failed, N skipped".
/// @return number of failures
int run_checks(const std::vector<Check>& checks, const std::string& filter);

}  // namespace glmchat::test
