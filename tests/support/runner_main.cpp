#include "tests/support/check.h"

/// usage: <runner> [text that the check's name must contain]
int main(int argc, char** argv) {
    const std::string filter = argc > 1 ? argv[1] : "";
    return glmchat::test::run_checks(glmchat::test::all_checks(), filter) == 0 ? 0 : 1;
}
