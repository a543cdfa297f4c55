#pragma once

#include "app/transfer/conversation_document.h"
#include "app/transfer/import_report.h"

namespace glmchat {

/// One conversation of ChatGPT's conversations.json: a "mapping" of nodes with parent and children, of which
/// "current_node" ends the path that was shown. Messages of tools and hidden instructions are left out and
/// reported; what hung on them hangs on the message before.
ConversationDocument conversationFromChatGpt(const JsonObject& object, ImportReport& report);

}  // namespace glmchat
