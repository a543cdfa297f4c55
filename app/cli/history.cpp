#include "app/cli/history.h"

#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/output.h"

namespace glmchat::cli {
namespace {

std::optional<Role> parse_role(const std::string& name) {
    if (name == "system") return Role::kSystem;
    if (name == "user") return Role::kUser;
    if (name == "assistant") return Role::kAssistant;
    return std::nullopt;
}

}  // namespace

Result<std::vector<ChatMessage>> read_history(const std::string& path) {
    std::vector<ChatMessage> messages;
    if (path.empty()) return messages;
    auto text = read_file(path);
    if (!text) return tl::unexpected(text.error());
    const nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    const auto bad_file = [&path](const std::string& finding) {
        return failure(StatusKind::kBadFile,
                       fmt::format("The history {} cannot be used: {}. It must be a JSON list of "
                                   "{{\"role\",\"content\"}} messages.",
                                   path, finding));
    };
    if (!json.is_array()) return bad_file("it is not a JSON list");
    for (std::size_t i = 0; i < json.size(); ++i) {
        const nlohmann::json& entry = json[i];
        const bool has_fields = entry.is_object() && entry.contains("role") && entry["role"].is_string() &&
                                entry.contains("content") && entry["content"].is_string();
        if (!has_fields) return bad_file(fmt::format("entry {} lacks role or content", i + 1));
        const auto role = parse_role(entry["role"].get<std::string>());
        if (!role)
            return bad_file(
                fmt::format("entry {} has the role \"{}\"", i + 1, entry["role"].get<std::string>()));
        messages.push_back({*role, entry["content"].get<std::string>(), {}, {}});
    }
    return messages;
}

}  // namespace glmchat::cli
