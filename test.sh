#!/usr/bin/env bash
# Installs what is missing, builds glmchat and runs all tests.
#   ./test.sh               everything, as users build it
#   ./test.sh --sanitizers  the same tests under the address and undefined-behaviour sanitizers, and the engine's stress
#                           program under the thread sanitizer
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. installer/dependencies.sh

run_preset() {  # PRESET [ctest argument…]
    local preset=$1
    shift
    say "building the preset $preset …"
    build_preset "$preset" -DBUILD_TESTING=ON ${GLMCHAT_CMAKE_ARGUMENTS:-}
    say "running the tests of the preset $preset …"
    ctest --test-dir "build/$preset" --no-tests=error --output-on-failure --parallel "$(nproc)" "$@"
}

install_packages "${GLMCHAT_BUILD_PACKAGES[@]}" "${GLMCHAT_WINDOW_PACKAGES[@]}" "${GLMCHAT_TEST_PACKAGES[@]}"
export QT_QPA_PLATFORM=offscreen
if [ "${1:-}" = "--sanitizers" ]; then
    # Leaks inside Qt, fontconfig and the graphics driver are not ours.
    export LSAN_OPTIONS="suppressions=$PWD/tests/lsan.supp:print_suppressions=0"
    run_preset asan
    run_preset tsan --tests-regex 'stress|kernels|generate'
else
    run_preset release
fi
