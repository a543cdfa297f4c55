#pragma once

#include <QString>

#include "app/storage/records.h"

namespace glmchat {

/// "Stopped", "Cut off at 2048 tokens", …; "" for a message that ended as it should. Translated.
QString statusText(const MessageRecord& message);

/// "42.7 tokens/s · first token 0.21 s · 186 tokens"; "" while an answer runs and for the user's messages.
/// Translated.
QString captionText(const MessageRecord& message);

/// Tokens per second after the first one; 0 when there is nothing to measure.
double decodeRate(int numNewTokens, double decodeMs);

}  // namespace glmchat
