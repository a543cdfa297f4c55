#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/loader/model_config.h"
#include "engine/prompt/response_text.h"
#include "engine/status.h"
#include "engine/tokenizer/tokenizer.h"

namespace glmchat {

enum class Role : std::uint8_t { kSystem, kUser, kAssistant };

struct ChatMessage {
    Role role = Role::kUser;
    std::string content;  ///< UTF-8
    /// Assistant messages generated here: every id that was fed or sampled for this answer (without the eos
    /// that ended it) together with the prompt they followed. Lets the next round append to the kept KV cache
    /// instead of re-encoding text.
    std::vector<std::int32_t> answer_ids;
    std::vector<std::int32_t> prompt_ids;
};

/// A prompt ready for the model.
struct ChatPrompt {
    std::vector<std::int32_t> ids;
    std::int32_t num_dropped_rounds = 0;  ///< oldest rounds left out because the context is full
};

/// How one model family writes a conversation as ids. Special tokens enter here, as ids, and nowhere else.
/// Any thread.
class ChatFormat {
  public:
    virtual ~ChatFormat() = default;

    /// The prompt text of the whole conversation, for showing and for tests ("[Round 1]\n\n问：…").
    /// Errors: as encode().
    virtual Result<std::string> text(std::span<const ChatMessage> messages) const = 0;

    /// Ids of the conversation, encoded as a whole from its text. The last message must be the user's.
    /// Errors: kInvalidArgument (empty, roles out of order).
    virtual Result<std::vector<std::int32_t>> encode(std::span<const ChatMessage> messages) const = 0;

    /// Ids that follow a kept prompt + answer: the next round's question (ChatGLM2: encode("\n\n[Round n]…")
    /// without its first id, no specials). round_number counts from 1.
    virtual std::vector<std::int32_t> encode_next_round(std::int32_t round_number,
                                                        const std::string& question) const = 0;

    /// The conversation's ids within `max_prompt_tokens`: continues from the latest answer whose kept ids
    /// belong to this conversation, else encodes the whole; when that does not fit, stays with the
    /// rounds the last answer was given with; when these are too many, drops whole oldest rounds (renumbered
    /// from 1) until a quarter of the room is free, never the system message. Kept ids belong when the
    /// answer's ids still say its content, and its prompt either is the kept prompt before it continued, or
    /// says what encode() would say of the messages before it. So callers may keep ids through edits and
    /// branches: stale ones are only not used. Errors: as encode(); kContextFull when even the last question
    /// does not fit (message has numbers); text that is too long by its bytes alone is not encoded.
    virtual Result<ChatPrompt> build(std::span<const ChatMessage> messages,
                                     std::int32_t max_prompt_tokens) const = 0;

    /// What the application shows of an answer: trimmed (all Unicode white space), "[[训练时间]]" replaced.
    virtual std::string process_response(std::string_view text) const = 0;
    /// The replacements process_response() makes, for showing an answer while it streams.
    virtual std::span<const TextReplacement> response_replacements() const = 0;

    virtual std::vector<std::int32_t> stop_token_ids() const = 0;
};

Result<std::shared_ptr<const ChatFormat>> make_chat_format(ModelFamily family,
                                                           std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace glmchat
