#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "app/transfer/document_json.h"
#include "app/transfer/import_conversations.h"

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

}  // namespace

/// Whatever is imported can be exported, and comes back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace glmchat;
    const QByteArrayView text(reinterpret_cast<const char*>(data), static_cast<qsizetype>(size));
    const auto first = importConversations(text, QStringLiteral("input.json"));
    if (!first) {
        require(!first.error().message.isEmpty());
        return 0;
    }
    for (const ConversationDocument& conversation : first->conversations) {
        require(!conversation.id.isEmpty());
        require(conversation.messages.isEmpty() == activePath(conversation).isEmpty());
    }
    const QByteArray exported = toJson(first->conversations, {});
    const auto second = importConversations(exported, QStringLiteral("exported.json"));
    require(second && second->conversations == first->conversations);
    require(toJson(second->conversations, {}) == exported);
    return 0;
}
