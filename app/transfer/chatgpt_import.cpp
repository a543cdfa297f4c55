#include "app/transfer/chatgpt_import.h"

#include <QHash>
#include <QSet>
#include <algorithm>
#include <array>
#include <cmath>

#include "app/transfer/message_list_import.h"

namespace glmchat {
namespace {

using What = ImportReport::What;

const JsonNode* member(const JsonObject* object, QStringView key) {
    return object ? findMember(*object, key) : nullptr;
}
const JsonObject* objectMember(const JsonObject* object, QStringView key) {
    const JsonNode* node = member(object, key);
    return node ? node->object() : nullptr;
}
const JsonArray* arrayMember(const JsonObject* object, QStringView key) {
    const JsonNode* node = member(object, key);
    return node ? node->array() : nullptr;
}
QString stringMember(const JsonObject* object, QStringView key) {
    const JsonNode* node = member(object, key);
    return node && node->string() ? *node->string() : QString();
}
bool isTrue(const JsonObject* object, QStringView key) {
    const JsonNode* node = member(object, key);
    return node && node->boolean() && *node->boolean();
}

/// Seconds since 1970 with a fraction, to milliseconds. 0 = not known.
qint64 timeMember(const JsonObject* object, QStringView key) {
    constexpr double kLatestSeconds = 253402300800.0;  // the year 10000
    const JsonNode* node = member(object, key);
    const double seconds = node && node->number() ? node->number()->digits.toDouble() : 0.0;
    return seconds > 0 && seconds < kLatestSeconds ? std::llround(seconds * 1000.0) : 0;
}

class MappingImport {
  public:
    MappingImport(const JsonObject& mapping, const QString& currentNode, ImportReport& report)
        : m_report(report) {
        for (const JsonMember& node : mapping) {
            if (node.value.object()) m_nodes.insert(node.key, node.value.object());
        }
        markShown(currentNode);
        for (const JsonMember& node : mapping) {
            if (node.value.object() && !m_nodes.contains(parentOf(node.value.object()))) walk(node.key);
        }
        m_report.add(What::LostParent, {}, m_nodes.size() - m_visited.size());
    }

    QList<MessageDocument> messages;
    QString systemPrompt;

  private:
    static QString parentOf(const JsonObject* node) { return stringMember(node, u"parent"); }

    void markShown(const QString& currentNode) {
        for (QString id = currentNode; m_nodes.contains(id) && !m_shown.contains(id);
             id = parentOf(m_nodes[id])) {
            m_shown.insert(id);
        }
    }

    /// Parents before children, siblings in their order; no recursion, the chain may be long.
    void walk(const QString& root) {
        struct Step {
            QString id;
            QString parentId;  ///< of the messages
        };
        QList<Step> steps{{root, {}}};
        while (!steps.isEmpty()) {
            const Step step = steps.takeLast();
            const JsonObject* node = m_nodes.value(step.id);
            if (!node || m_visited.contains(step.id)) continue;
            m_visited.insert(step.id);
            const QString parentId = take(step.id, node, step.parentId) ? step.id : step.parentId;
            const JsonArray* children = arrayMember(node, u"children");
            if (!children) continue;
            for (auto child = children->crbegin(); child != children->crend(); ++child) {
                if (child->string()) steps << Step{*child->string(), parentId};
            }
        }
    }

    /// @return true when the node became a message
    bool take(const QString& id, const JsonObject* node, const QString& parentId) {
        const JsonObject* message = objectMember(node, u"message");
        if (!message) return false;  // the root has none
        const JsonObject* metadata = objectMember(message, u"metadata");
        if (metadata && !metadata->empty())
            m_report.add(What::DroppedField, QStringLiteral("message.metadata"));
        const QString role = stringMember(objectMember(message, u"author"), u"role");
        const QString text = textOf(objectMember(message, u"content"));
        if (isTrue(metadata, u"is_visually_hidden_from_conversation"))
            return leaveOut(text, QStringLiteral("hidden"));
        if (role == u"system") return takeSystemPrompt(text);
        if (role != u"user" && role != u"assistant") return leaveOut(text, role);
        const QString recipient = stringMember(message, u"recipient");
        if (!recipient.isEmpty() && recipient != u"all")
            return leaveOut(text, QStringLiteral("to ") + recipient);
        if (text.isEmpty()) {
            m_report.add(What::EmptyMessage);
            return false;
        }
        MessageDocument document;
        document.id = id;
        document.parentId = parentId;
        document.active = m_shown.contains(id);
        document.role = role == u"user" ? DocumentRole::User : DocumentRole::Assistant;
        document.text = text;
        document.createdMs = timeMember(message, u"create_time");
        document.changedMs = std::max(document.createdMs, timeMember(message, u"update_time"));
        if (const QString model = stringMember(metadata, u"model_slug");
            document.role == DocumentRole::Assistant && !model.isEmpty()) {
            document.answer.emplace().modelName = model;
        }
        messages << document;
        return true;
    }

    bool leaveOut(const QString& text, const QString& kind) {
        if (!text.isEmpty()) m_report.add(What::DroppedMessage, kind);
        return false;
    }

    bool takeSystemPrompt(const QString& text) {
        if (text.isEmpty()) return false;
        if (systemPrompt.isEmpty()) {
            systemPrompt = text;
        } else {
            m_report.add(What::LaterSystemPrompt);
        }
        return false;
    }

    QString textOf(const JsonObject* content) {
        const QString type = stringMember(content, u"content_type");
        if (type == u"code") return stringMember(content, u"text");
        if (type != u"text" && type != u"multimodal_text") {
            if (content && !type.isEmpty()) m_report.add(What::DroppedPart, type);
            return {};
        }
        QStringList texts;
        const JsonArray* parts = arrayMember(content, u"parts");
        for (std::size_t i = 0; parts && i < parts->size(); ++i) {
            const JsonNode& part = (*parts)[i];
            if (part.string()) {
                if (!part.string()->isEmpty()) texts << *part.string();
            } else {
                const QString kind = stringMember(part.object(), u"content_type");
                m_report.add(What::DroppedPart, kind.isEmpty() ? QStringLiteral("unnamed") : kind);
            }
        }
        return texts.join(u'\n');
    }

    ImportReport& m_report;
    QHash<QString, const JsonObject*> m_nodes;
    QSet<QString> m_shown;
    QSet<QString> m_visited;
};

void reportOtherFields(const JsonObject& object, ImportReport& report) {
    constexpr std::array<QStringView, 7> kTaken{
        u"title", u"create_time", u"update_time", u"mapping", u"current_node", u"conversation_id", u"id"};
    for (const JsonMember& field : object) {
        const bool isBlank = field.value.isNull() || (field.value.boolean() && !*field.value.boolean()) ||
                             (field.value.array() && field.value.array()->empty());
        if (!isBlank && std::find(kTaken.begin(), kTaken.end(), field.key) == kTaken.end()) {
            report.add(What::DroppedField, QStringLiteral("conversation.") + field.key);
        }
    }
}

}  // namespace

ConversationDocument conversationFromChatGpt(const JsonObject& object, ImportReport& report) {
    ConversationDocument conversation;
    conversation.id = stringMember(&object, u"conversation_id");
    if (conversation.id.isEmpty()) conversation.id = stringMember(&object, u"id");
    if (conversation.id.isEmpty()) conversation.id = newId();
    conversation.createdMs = timeMember(&object, u"create_time");
    conversation.changedMs = std::max(conversation.createdMs, timeMember(&object, u"update_time"));
    if (const JsonObject* mapping = objectMember(&object, u"mapping")) {
        MappingImport import(*mapping, stringMember(&object, u"current_node"), report);
        conversation.messages = std::move(import.messages);
        conversation.systemPrompt = std::move(import.systemPrompt);
    }
    repairTree(conversation);  // only chooses the shown sibling in branches that were not shown
    conversation.title = stringMember(&object, u"title");
    conversation.titleSource = DocumentTitleSource::Model;
    if (conversation.title.isEmpty()) {
        conversation.title = titleFromFirstWords(conversation);
        conversation.titleSource = DocumentTitleSource::FirstWords;
    }
    reportOtherFields(object, report);
    return conversation;
}

}  // namespace glmchat
