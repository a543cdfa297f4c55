#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace glmchat {

/// Looks for stop strings in streamed text. What could still become one is held back, so text that was given
/// out is never part of a stop string. The stop string that is complete first in the stream ends it (of
/// several that end together, the longest), however the text is cut into pieces.
class StopStrings {
  public:
    /// @param stop_strings  UTF-8, none empty
    explicit StopStrings(std::vector<std::string> stop_strings) : stop_strings_(std::move(stop_strings)) {}

    /// Takes the next piece, UTF-8 of whole characters. @return text that is final, whole characters; "" once
    /// found
    std::string push(std::string_view text);
    /// A stop string is complete; it and what follows it are dropped.
    bool found() const { return found_; }
    /// End of the stream. @return what was held back
    std::string finish();

  private:
    std::size_t num_held_back() const;

    const std::vector<std::string> stop_strings_;
    std::string pending_;
    bool found_ = false;
};

}  // namespace glmchat
