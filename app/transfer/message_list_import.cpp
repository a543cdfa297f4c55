#include "app/transfer/message_list_import.h"

#include <QUuid>
#include <algorithm>
#include <array>
#include <optional>

namespace glmchat {
namespace {

using What = ImportReport::What;

constexpr qsizetype kLongestTitle = 40;  // characters

template <std::size_t N>
bool contains(const std::array<QStringView, N>& names, QStringView name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

constexpr std::array<QStringView, 3> kUserNames{u"user", u"human", u"prompter"};
constexpr std::array<QStringView, 6> kAssistantNames{u"assistant", u"gpt", u"chatgpt",
                                                     u"model",     u"bot", u"bing"};
constexpr std::array<QStringView, 2> kSystemNames{u"system", u"developer"};
constexpr std::array<QStringView, 3> kTextParts{u"text", u"input_text", u"output_text"};
constexpr std::array<QStringView, 4> kMessageKeys{u"role", u"content", u"from", u"value"};

const QString* stringMember(const JsonObject& object, QStringView key) {
    const JsonNode* node = findMember(object, key);
    return node ? node->string() : nullptr;
}

std::optional<DocumentRole> roleOf(QStringView name) {
    if (contains(kUserNames, name)) return DocumentRole::User;
    if (contains(kAssistantNames, name)) return DocumentRole::Assistant;
    return std::nullopt;
}

bool isBlank(const JsonNode& node) {
    return node.isNull() || (node.string() && node.string()->isEmpty()) ||
           (node.array() && node.array()->empty()) || (node.object() && node.object()->empty());
}

}  // namespace

bool isListedMessage(const JsonNode& node) {
    const JsonObject* object = node.object();
    return object && (stringMember(*object, u"role") || stringMember(*object, u"from")) &&
           !findMember(*object, u"messages") && !findMember(*object, u"conversations");
}

void MessageListImport::add(const JsonNode& message) {
    if (!isListedMessage(message)) return m_report.add(What::NotAConversation);
    const JsonObject& object = *message.object();
    const QString* name = stringMember(object, u"role");
    if (!name) name = stringMember(object, u"from");
    const JsonNode* content = findMember(object, u"content");
    if (!content) content = findMember(object, u"value");
    for (const JsonMember& member : object) {
        if (!contains(kMessageKeys, member.key) && !isBlank(member.value)) {
            m_report.add(What::DroppedField, QStringLiteral("message.") + member.key);
        }
    }
    const std::optional<DocumentRole> role = roleOf(name->toLower());
    if (!role && !contains(kSystemNames, name->toLower())) return m_report.add(What::DroppedMessage, *name);
    const QString text = content ? textOf(*content) : QString();
    if (text.isEmpty()) return m_report.add(What::EmptyMessage);
    if (!role) return addSystemPrompt(text);

    MessageDocument document;
    document.id = newId();
    if (!m_conversation.messages.isEmpty()) document.parentId = m_conversation.messages.last().id;
    document.role = *role;
    document.text = text;
    m_conversation.messages << document;
}

void MessageListImport::addSystemPrompt(const QString& text) {
    if (m_conversation.systemPrompt.isEmpty()) {
        m_conversation.systemPrompt = text;
    } else {
        m_report.add(What::LaterSystemPrompt);
    }
}

/// Of a string or of a list of parts.
QString MessageListImport::textOf(const JsonNode& content) {
    if (content.string()) return *content.string();
    if (!content.array()) {
        if (!content.isNull()) m_report.add(What::DroppedPart, QStringLiteral("content"));
        return {};
    }
    QStringList texts;
    for (const JsonNode& part : *content.array()) {
        const JsonObject* object = part.object();
        const QString* type = object ? stringMember(*object, u"type") : nullptr;
        const QString* text = object ? stringMember(*object, u"text") : part.string();
        if (text && (!type || contains(kTextParts, *type))) {
            texts << *text;
        } else {
            m_report.add(What::DroppedPart, type ? *type : QStringLiteral("unnamed"));
        }
    }
    return texts.join(u'\n');
}

ConversationDocument MessageListImport::finish(const JsonObject& about) {
    for (const JsonMember& member : about) {
        const QString* text = member.value.string();
        if (text && member.key == u"id") {
            m_conversation.id = *text;
        } else if (text && member.key == u"title") {
            m_conversation.title = *text;
            m_conversation.titleSource = DocumentTitleSource::User;
        } else if (text && (member.key == u"system" || member.key == u"system_prompt")) {
            if (!text->isEmpty()) addSystemPrompt(*text);
        } else if (member.key != u"messages" && member.key != u"conversations" && !isBlank(member.value)) {
            m_report.add(What::DroppedField, QStringLiteral("conversation.") + member.key);
        }
    }
    if (m_conversation.id.isEmpty()) m_conversation.id = newId();
    if (m_conversation.title.isEmpty()) {
        m_conversation.title = titleFromFirstWords(m_conversation);
        m_conversation.titleSource = DocumentTitleSource::FirstWords;
    }
    return std::move(m_conversation);
}

QString titleFromFirstWords(const ConversationDocument& conversation) {
    if (conversation.messages.isEmpty()) return {};
    const QString words = conversation.messages.first().text.left(8 * kLongestTitle).simplified();
    if (words.size() <= kLongestTitle) return words;
    const qsizetype end = words[kLongestTitle - 1].isHighSurrogate() ? kLongestTitle - 1 : kLongestTitle;
    return words.first(end) + u'…';
}

QString newId() {
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

}  // namespace glmchat
