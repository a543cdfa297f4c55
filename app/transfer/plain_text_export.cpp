#include <QStringList>

#include "app/transfer/export_text.h"
#include "app/transfer/outline.h"

namespace glmchat {
namespace {

constexpr qsizetype kRuleLength = 72;

void appendConversation(QStringList& lines, const Outline& outline, const ExportOptions& options) {
    const QString rule(kRuleLength, u'─');
    lines << outline.title << QString(kRuleLength, u'═');
    for (const Outline::Fact& fact : outline.facts) lines << fact.label + QStringLiteral(": ") + fact.value;
    if (!outline.systemPrompt.isEmpty()) {
        lines << QString() << options.words.systemPrompt << rule << cleanText(outline.systemPrompt);
    }
    for (const Outline::Message& message : outline.messages) {
        lines << QString() << message.heading;
        if (!message.facts.isEmpty()) lines << message.facts;
        lines << rule << cleanText(message.text);
    }
}

}  // namespace

QByteArray toPlainText(std::span<const ConversationDocument> conversations, const ExportOptions& options) {
    QStringList lines;
    for (const ConversationDocument& conversation : conversations) {
        if (!lines.isEmpty()) lines << QString() << QString();
        appendConversation(lines, outlineOf(conversation, options), options);
    }
    return (lines.join(u'\n') + u'\n').toUtf8();
}

}  // namespace glmchat
