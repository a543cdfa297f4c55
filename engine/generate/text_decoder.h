#pragma once

#include <cstdint>
#include <string>

namespace glmchat {

/// Turns one stream of generated ids into text, id by id. What was returned never changes, no call returns half a
/// character, and all returned pieces joined with finish() are the decoded text of the whole list.
/// Lives in glmchat_model, so that the scheduler can match stop strings without knowing sentencepiece.
class TextDecoder {
  public:
    virtual ~TextDecoder() = default;
    /// Feeds one id. @return valid UTF-8 that became final, often "".
    virtual std::string push(std::int32_t token_id) = 0;
    /// End of the stream. @return what was still held back (incomplete bytes as U+FFFD).
    virtual std::string finish() = 0;
};

}  // namespace glmchat
