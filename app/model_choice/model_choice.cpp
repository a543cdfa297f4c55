#include "app/model_choice/model_choice.h"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>

#include <nlohmann/json.hpp>

#include "engine/chat/device.h"

namespace glmchat {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFileName = "model.json";

fs::path environment_path(const char* variable) {
    const char* value = std::getenv(variable);
    return value != nullptr ? fs::path(value) : fs::path();
}

std::string to_utf8(const fs::path& path) {
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

fs::path from_utf8(const std::string& text) {
    return fs::path(std::u8string(text.begin(), text.end()));
}

fs::path program_folder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path() : program.parent_path();
}

bool is_model_folder(const fs::path& folder) {
    std::error_code error;
    return !folder.empty() && fs::exists(folder / "config.json", error);
}

}  // namespace

fs::path config_folder() {
#if defined(_WIN32)
    return environment_path("APPDATA") / "glmchat";
#else
    const fs::path xdg = environment_path("XDG_CONFIG_HOME");
    if (xdg.is_absolute()) return xdg / "glmchat";
    return environment_path("HOME") / ".config" / "glmchat";
#endif
}

fs::path guide_model_folder() {
    const fs::path program = program_folder();
    const fs::path candidates[] = {
        environment_path("GLMCHAT_RESOURCES") / "guide-model",
        program / "guide-model",
        program / ".." / "share" / "glmchat" / "guide-model",
        fs::path(GLMCHAT_BUILD_RESOURCES) / "guide-model",
    };
    for (const fs::path& candidate : candidates) {
        if (is_model_folder(candidate)) return candidate.lexically_normal();
    }
    return {};
}

Result<std::optional<ModelChoice>> read_model_choice(const fs::path& folder) {
    const fs::path file_path = folder / kFileName;
    std::error_code error;
    if (!fs::exists(file_path, error)) return std::nullopt;
    std::ifstream file(file_path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());

    const auto bad_file = [&](const std::string& finding) {
        return failure(StatusKind::kBadFile, "The remembered model choice in " + to_utf8(file_path) +
                                                 " cannot be read: " + finding + ". Choose the model again.");
    };
    const nlohmann::json json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object()) return bad_file("it is not a JSON object");
    const auto string_field = [&json](const char* key) {
        const auto found = json.find(key);
        return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
    };
    const std::string model_folder = string_field("model_folder");
    const std::optional<Device> device = parse_device(string_field("device"));
    const std::optional<Precision> precision = parse_precision(string_field("precision"));
    if (model_folder.empty()) return bad_file("model_folder is missing");
    if (!device) return bad_file("device is not auto, cpu or cuda");
    if (!precision) return bad_file("precision is not auto, fp32, fp16, int8 or int4");
    return ModelChoice{from_utf8(model_folder), *device, *precision};
}

Result<void> write_model_choice(const fs::path& folder, const ModelChoice& choice) {
    const fs::path file_path = folder / kFileName;
    const fs::path temporary_path = folder / (std::string(kFileName) + ".new");
    std::error_code error;
    fs::create_directories(folder, error);
    const nlohmann::json json = {{"model_folder", to_utf8(fs::absolute(choice.folder, error))},
                                 {"device", device_name(choice.device)},
                                 {"precision", precision_name(choice.precision)}};
    {
        std::ofstream file(temporary_path, std::ios::binary | std::ios::trunc);
        file << json.dump(4) << '\n';
        file.flush();
        if (!file) {
            return failure(StatusKind::kNotFound, "The model choice could not be saved in " +
                                                      to_utf8(folder) +
                                                      ". Check that the folder can be written.");
        }
    }
    fs::rename(temporary_path, file_path, error);
    if (error) {
        return failure(StatusKind::kNotFound, "The model choice could not be saved as " + to_utf8(file_path) +
                                                  ": " + error.message() + ".");
    }
    return {};
}

}  // namespace glmchat
