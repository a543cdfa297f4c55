#pragma once

#include <memory>

#include "engine/prompt/chat_format.h"

namespace glmchat {

/// ChatGLM2: `[gMASK] sop` and the rounds as text, "[Round 1]\n\n问：Q1\n\n答：A1\n\n[Round
/// 2]\n\n问：Q2\n\n答：". The family has no system role. Its official server puts the system text directly in
/// front of a single question; for several rounds we keep it in front of the first question that is sent, so
/// that it stays where it was in the kept KV cache.
std::shared_ptr<const ChatFormat> make_chatglm2_format(std::shared_ptr<const Tokenizer> tokenizer);

}  // namespace glmchat
