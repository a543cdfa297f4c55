#include "engine/prompt/chat_format.h"

#include <utility>

#include "engine/prompt/chatglm2_format.h"

namespace glmchat {

Result<std::shared_ptr<const ChatFormat>> make_chat_format(ModelFamily family,
                                                           std::shared_ptr<const Tokenizer> tokenizer) {
    switch (family) {
        case ModelFamily::kChatGlm2:
            return make_chatglm2_format(std::move(tokenizer));
    }
    return failure(StatusKind::kUnsupported, "There is no chat format for this model family.");
}

}  // namespace glmchat
