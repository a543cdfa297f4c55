#include "engine/generate/scheduler.h"

namespace glmchat {

std::string_view finish_reason_name(FinishReason reason) {
    switch (reason) {
        case FinishReason::kStopToken:
            return "stop_token";
        case FinishReason::kStopString:
            return "stop_string";
        case FinishReason::kMaxNewTokens:
            return "max_new_tokens";
        case FinishReason::kContextFull:
            return "context_full";
        case FinishReason::kCancelled:
            return "cancelled";
    }
    return "";
}

}  // namespace glmchat
