#pragma once

#include <initializer_list>
#include <string>

#include "tests/support/check.h"
#include <fmt/format.h>

#include "engine/status.h"

namespace glmchat::test {

/// Passes when `result` failed with this kind and its message holds every one of `words`.
template <typename T>
CheckResult expect_failure(const Result<T>& result, StatusKind kind,
                           std::initializer_list<std::string> words) {
    if (result) return failed("succeeded where it should fail");
    const Status& status = result.error();
    if (status.kind != kind) {
        return failed(fmt::format("kind {} instead of {}: {}", static_cast<int>(status.kind),
                                  static_cast<int>(kind), status.message));
    }
    for (const std::string& word : words) {
        if (status.message.find(word) == std::string::npos) {
            return failed(fmt::format("\"{}\" does not name \"{}\"", status.message, word));
        }
    }
    return passed(status.message);
}

inline CheckResult expect(bool condition, const std::string& what) {
    return condition ? passed() : failed(what);
}

}  // namespace glmchat::test
