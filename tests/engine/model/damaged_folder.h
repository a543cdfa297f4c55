#pragma once

#include <filesystem>
#include <functional>

#include <nlohmann/json.hpp>

namespace glmchat::test {

/// A copy of a single-file safetensors model folder in the system's temporary folder, with the file's header
/// or config.json edited; removed with the object. Throws std::exception when a file cannot be read or
/// written.
class DamagedFolder {
  public:
    using Edit = std::function<void(nlohmann::json&)>;

    DamagedFolder(const std::filesystem::path& original, const Edit& edit_header, const Edit& edit_config);
    ~DamagedFolder();
    DamagedFolder(const DamagedFolder&) = delete;
    DamagedFolder& operator=(const DamagedFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

}  // namespace glmchat::test
