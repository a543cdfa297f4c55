#include "tests/support/conformance_kit.h"

#include <cstdlib>

namespace glmchat::test {

std::optional<std::filesystem::path> conformance_kit() {
    const char* variable = std::getenv("GLMCHAT_CONFORMANCE");
    const std::filesystem::path folder =
        variable != nullptr ? std::filesystem::path(variable) : source_dir() / ".." / "shared" / "conformance";
    std::error_code ignored;  // an unreadable parent means the same as a missing kit
    if (!std::filesystem::exists(folder / "manifest.json", ignored)) return std::nullopt;
    return std::filesystem::weakly_canonical(folder);
}

std::filesystem::path source_dir() { return GLMCHAT_SOURCE_DIR; }

}  // namespace glmchat::test
