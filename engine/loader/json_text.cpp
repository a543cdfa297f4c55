#include "engine/loader/json_text.h"

#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "engine/loader/message.h"

namespace glmchat {
namespace {

constexpr std::size_t kDeepestNesting = 32;

/// Looks over the parser's shoulder for what the finished value no longer shows.
class StructureCheck {
  public:
    /// @return whether the parser keeps this part
    bool operator()(nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
        using Event = nlohmann::json::parse_event_t;
        if (event == Event::object_start || event == Event::array_start) {
            ++depth_;
            too_deep_ = too_deep_ || depth_ > kDeepestNesting;
            if (event == Event::object_start && !too_deep_) keys_.emplace_back();
        } else if (event == Event::object_end || event == Event::array_end) {
            --depth_;
            if (event == Event::object_end && !too_deep_) keys_.pop_back();
        } else if (event == Event::key && !too_deep_) {
            const auto& key = parsed.get_ref<const std::string&>();
            if (!keys_.back().insert(key).second && duplicate_.empty()) duplicate_ = in_quotes(key);
        }
        return !too_deep_;
    }

    bool too_deep() const { return too_deep_; }
    const std::string& duplicate() const { return duplicate_; }

  private:
    std::size_t depth_ = 0;
    bool too_deep_ = false;
    std::string duplicate_;
    std::vector<std::set<std::string>> keys_;  ///< of the objects being read, outermost first
};

}  // namespace

Result<nlohmann::json> parse_json_object(std::string_view text, std::string_view file_name,
                                         std::size_t max_bytes) {
    if (text.size() > max_bytes) {
        return bad_file(file_name,
                        fmt::format("its JSON text has {} bytes, more than the {} a real one may have",
                                    text.size(), max_bytes));
    }
    StructureCheck check;
    nlohmann::json value = nlohmann::json::parse(
        text,
        [&check](int, nlohmann::json::parse_event_t event, const nlohmann::json& parsed) {
            return check(event, parsed);
        },
        /*allow_exceptions=*/false);
    if (check.too_deep()) return bad_file(file_name, "its JSON text is nested too deeply");
    if (value.is_discarded()) return bad_file(file_name, "its text is not valid JSON");
    if (!value.is_object()) return bad_file(file_name, "its JSON text is not an object");
    if (!check.duplicate().empty()) {
        return bad_file(file_name, fmt::format("its JSON text names {} twice", check.duplicate()));
    }
    return value;
}

}  // namespace glmchat
