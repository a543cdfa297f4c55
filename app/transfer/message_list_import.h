#pragma once

#include "app/transfer/conversation_document.h"
#include "app/transfer/import_report.h"

namespace glmchat {

/// True for {"role", "content"} (OpenAI) and {"from", "value"} (ShareGPT).
bool isListedMessage(const JsonNode& node);

/// Makes a conversation of messages that follow each other. The first system message becomes the system
/// prompt.
class MessageListImport {
  public:
    explicit MessageListImport(ImportReport& report) : m_report(report) {}

    void add(const JsonNode& message);
    bool isEmpty() const {
        return m_conversation.messages.isEmpty() && m_conversation.systemPrompt.isEmpty();
    }
    /// @param about  the object around the list: id, title, system prompt; empty when there is none
    ConversationDocument finish(const JsonObject& about);

  private:
    void addSystemPrompt(const QString& text);
    QString textOf(const JsonNode& content);

    ImportReport& m_report;
    ConversationDocument m_conversation;
};

/// First words of the first message, for a conversation that came without a title.
QString titleFromFirstWords(const ConversationDocument& conversation);

/// A new random id.
QString newId();

}  // namespace glmchat
