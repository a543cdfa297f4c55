#include "engine/generate/stop_strings.h"

#include <algorithm>
#include <utility>

namespace glmchat {

std::string StopStrings::push(std::string_view text) {
    if (found_) return {};
    pending_ += text;
    std::size_t first_end = std::string::npos;
    std::size_t begin = std::string::npos;
    for (const std::string& stop_string : stop_strings_) {
        const std::size_t at = pending_.find(stop_string);
        if (at == std::string::npos) continue;
        const std::size_t end = at + stop_string.size();
        if (end < first_end || (end == first_end && at < begin)) {
            first_end = end;
            begin = at;
        }
    }
    found_ = begin != std::string::npos;
    const std::size_t num_final = found_ ? begin : pending_.size() - num_held_back();
    std::string final_text = pending_.substr(0, num_final);
    pending_.erase(0, found_ ? std::string::npos : num_final);
    return final_text;
}

std::string StopStrings::finish() {
    return std::exchange(pending_, {});
}

/// Length of the longest end of pending_ with which a stop string begins. A stop string begins with a whole
/// character, so the cut never falls into one.
std::size_t StopStrings::num_held_back() const {
    std::size_t longest = 0;
    for (const std::string& stop_string : stop_strings_) {
        for (std::size_t size = std::min(stop_string.size() - 1, pending_.size()); size > longest; --size) {
            if (std::string_view(pending_).ends_with(std::string_view(stop_string).substr(0, size)))
                longest = size;
        }
    }
    return longest;
}

}  // namespace glmchat
