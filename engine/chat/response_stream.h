#pragma once

#include <string>
#include <string_view>

#include "engine/prompt/chat_format.h"

namespace glmchat {

/// process_response() for a stream: shows the answer while it grows and never changes what it has shown.
/// Leading white space is left out, trailing white space is held back until something follows it, and so is
/// the beginning of a text that process_response() replaces. All pieces joined equal process_response() of
/// the whole text.
class ResponseStream {
  public:
    /// `format` must outlive the stream.
    explicit ResponseStream(const ChatFormat& format) : format_(format) {}

    std::string push(std::string_view text);  ///< @return what may be shown now
    std::string finish();                     ///< @return the rest

    const std::string& shown() const { return shown_; }  ///< everything returned so far

  private:
    std::string show(std::size_t num_bytes);

    const ChatFormat& format_;
    std::string held_;  ///< raw text not yet shown
    std::string shown_;
};

}  // namespace glmchat
