#pragma once

#include <filesystem>
#include <optional>

namespace glmchat::test {

/// The conformance kit's folder: $GLMCHAT_CONFORMANCE, else ../shared/conformance beside the source tree. The project
/// builds and passes without it; a test that needs it skips with kKitMissing.
std::optional<std::filesystem::path> conformance_kit();
inline constexpr const char* kKitMissing = "conformance kit not found (set GLMCHAT_CONFORMANCE to its folder)";

/// The repository's own files: tests/golden, resources, …
std::filesystem::path source_dir();

}  // namespace glmchat::test
