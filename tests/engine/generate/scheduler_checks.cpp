#include "tests/engine/generate/scheduler_check_groups.h"

namespace glmchat::test {

std::vector<Check> all_checks() {
    std::vector<Check> checks;
    add_basic_checks(checks);
    add_batching_checks(checks);
    add_conversation_checks(checks);
    add_stop_string_checks(checks);
    add_cancel_checks(checks);
    add_failure_checks(checks);
    return checks;
}

}  // namespace glmchat::test
