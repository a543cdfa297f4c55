#pragma once

#include <filesystem>
#include <optional>

#include "engine/chat/chat_engine.h"
#include "engine/status.h"

namespace glmchat {

/// The model a user last chose, shared by the window and glmchat-cli. No Qt.
struct ModelChoice {
    std::filesystem::path folder;
    Device device = Device::kAuto;
    Precision precision = Precision::kAuto;
};

/// $XDG_CONFIG_HOME/glmchat, else ~/.config/glmchat (on Windows %APPDATA%/glmchat).
std::filesystem::path config_folder();

/// The built-in guide model: $GLMCHAT_RESOURCES/guide-model, else beside or above the running program, else
/// in the build's source tree. Empty path when none is found.
std::filesystem::path guide_model_folder();

/// Reads model.json of `folder`. None when there is no file; kBadFile when it cannot be understood.
Result<std::optional<ModelChoice>> read_model_choice(const std::filesystem::path& folder);
/// Writes model.json of `folder` (made when missing), through a temporary file and rename.
Result<void> write_model_choice(const std::filesystem::path& folder, const ModelChoice& choice);

}  // namespace glmchat
