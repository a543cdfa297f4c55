#pragma once

#include <random>

#include "app/transfer/conversation_document.h"

namespace glmchat::test {

/// A conversation with two versions of a question, code, a stopped answer and everything a format has to
/// show.
ConversationDocument sampleConversation();

/// A valid conversation of any shape: odd texts, siblings, every field set or not, unknown members. The same
/// seed gives the same one.
ConversationDocument randomConversation(std::mt19937& random);

/// Text of the worst characters: controls, NUL, lone surrogates, right-to-left, emoji, fences in fences,
/// CRLF, byte order marks, Markdown, HTML.
QString oddText(std::mt19937& random);

}  // namespace glmchat::test
