#include <string>
#include <vector>

#include "cuda_emulator/control.h"
#include "tests/support/check.h"

namespace {

using glmchat::test::Check;
using glmchat::test::CheckResult;

std::string text_of(const std::vector<emu::Report>& reports) {
    std::string text;
    for (const emu::Report& report : reports) text += "\n  " + report.text();
    return text;
}

/// A check passes only if the emulator has nothing to report either.
Check watched(const Check& check) {
    return {check.name, [check] {
                emu::take_reports();
                CheckResult result = check.run();
                const std::string reports = text_of(emu::take_reports());
                if (reports.empty()) return result;
                if (result.outcome != CheckResult::Outcome::kFailed) result = glmchat::test::failed("");
                result.message += "the emulator reports:" + reports;
                return result;
            }};
}

/// What the checks before have not given back.
CheckResult leaks() {
    emu::report_leaks();
    return glmchat::test::passed();  // reports fail it
}

}  // namespace

/// usage: <program> [text that the check's name must contain]
int main(int argc, char** argv) {
    std::vector<Check> checks;
    for (const Check& check : glmchat::test::all_checks()) checks.push_back(watched(check));
    const int failures = glmchat::test::run_checks(checks, argc > 1 ? argv[1] : "") +
                         glmchat::test::run_checks({watched({"leaks", leaks})}, "");
    return failures == 0 ? 0 : 1;
}
