#include "app/transfer/document_json.h"

#include <algorithm>
#include <array>

#include "app/transfer/message_list_import.h"

namespace glmchat {
namespace {

template <typename Enum>
struct EnumName {
    Enum value;
    QStringView name;
};
template <typename Enum, std::size_t N>
EnumName(Enum, const char16_t (&)[N]) -> EnumName<Enum>;
constexpr std::array kRoles{EnumName{DocumentRole::User, u"user"},
                            EnumName{DocumentRole::Assistant, u"assistant"}};
constexpr std::array kStatuses{
    EnumName{DocumentStatus::Complete, u"complete"}, EnumName{DocumentStatus::Stopped, u"stopped"},
    EnumName{DocumentStatus::Failed, u"failed"}, EnumName{DocumentStatus::Cut, u"cut"}};
constexpr std::array kTitleSources{EnumName{DocumentTitleSource::FirstWords, u"first_words"},
                                   EnumName{DocumentTitleSource::Model, u"model"},
                                   EnumName{DocumentTitleSource::User, u"user"}};

constexpr auto& namesOf(DocumentRole) {
    return kRoles;
}
constexpr auto& namesOf(DocumentStatus) {
    return kStatuses;
}
constexpr auto& namesOf(DocumentTitleSource) {
    return kTitleSources;
}

/// Writes fields in the order of the calls. An empty optional, and a value equal to its usual one, is left
/// out; so is a field that `unknown` holds because its value was not understood.
class FieldWriter {
  public:
    explicit FieldWriter(const JsonObject& unknown) : m_unknown(unknown) {}

    void always(QStringView key, const QString& value) { add(key, JsonNode(value)); }
    void field(QStringView key, const QString& value) {
        if (!value.isEmpty()) add(key, JsonNode(value));
    }
    void field(QStringView key, bool value, bool usual = false) {
        if (value != usual) add(key, JsonNode(value));
    }
    void field(QStringView key, qint64 value) {
        if (value != 0) add(key, JsonNode(value));
    }
    template <typename Number>
    void field(QStringView key, const std::optional<Number>& value) {
        if (!value) return;
        if (JsonNode node(*value); !node.isNull()) add(key, std::move(node));
    }
    template <typename Enum>
    requires std::is_enum_v<Enum>
    void field(QStringView key, Enum value) {
        for (const auto& entry : namesOf(value)) {
            if (entry.value == value) add(key, JsonNode(entry.name.toString()));
        }
    }
    void add(QStringView key, JsonNode value) {
        if (!findMember(m_unknown, key)) m_object.push_back({key.toString(), std::move(value)});
    }

    JsonNode finish() {
        m_object.insert(m_object.end(), m_unknown.begin(), m_unknown.end());
        return JsonNode(std::move(m_object));
    }

  private:
    const JsonObject& m_unknown;
    JsonObject m_object;
};

/// Takes the fields out of an object whose values have the right type; what is left is unknown.
class FieldReader {
  public:
    explicit FieldReader(JsonObject object) : m_object(std::move(object)) {}

    void always(QStringView key, QString& value) { field(key, value); }
    void field(QStringView key, QString& value) {
        take(key, [&](const JsonNode& node) { return assign(node.string(), value); });
    }
    void field(QStringView key, bool& value, bool /*usual*/ = false) {
        take(key, [&](const JsonNode& node) { return assign(node.boolean(), value); });
    }
    void field(QStringView key, qint64& value) {
        take(key, [&](const JsonNode& node) { return number(node, value); });
    }
    template <typename Number>
    void field(QStringView key, std::optional<Number>& value) {
        take(key, [&](const JsonNode& node) {
            Number parsed{};
            if (!number(node, parsed)) return false;
            value = parsed;
            return true;
        });
    }
    template <typename Enum>
    requires std::is_enum_v<Enum>
    void field(QStringView key, Enum& value) {
        take(key, [&](const JsonNode& node) {
            for (const auto& entry : namesOf(Enum{})) {
                if (!node.string() || *node.string() != entry.name) continue;
                value = entry.value;
                return true;
            }
            return false;
        });
    }
    std::optional<JsonNode> takeObject(QStringView key) {
        return takeIf(key, [](const JsonNode& node) { return node.object() != nullptr; });
    }
    std::optional<JsonNode> takeArray(QStringView key) {
        return takeIf(key, [](const JsonNode& node) { return node.array() != nullptr; });
    }

    /// What was not taken. A second field of a name that was taken has no place and is only reported.
    /// @param place  of the object, for the report: "conversation", "message", "answer"
    JsonObject rest(const QString& place, ImportReport& report) {
        JsonObject kept;
        for (JsonMember& member : m_object) {
            const bool isRepeated = m_taken.contains(member.key) || findMember(kept, member.key);
            report.add(isRepeated ? ImportReport::What::DroppedField : ImportReport::What::KeptField,
                       place + u'.' + member.key);
            if (!isRepeated) kept.push_back(std::move(member));
        }
        return kept;
    }

  private:
    template <typename T>
    static bool assign(const T* source, T& target) {
        if (source) target = *source;
        return source != nullptr;
    }
    static bool number(const JsonNode& node, qint64& value) {
        bool ok = node.number() != nullptr;
        const qint64 parsed = ok ? node.number()->digits.toLongLong(&ok) : 0;
        if (ok) value = parsed;
        return ok;
    }
    static bool number(const JsonNode& node, double& value) {
        bool ok = node.number() != nullptr;
        const double parsed = ok ? node.number()->digits.toDouble(&ok) : 0;
        if (ok) value = parsed;
        return ok;
    }
    template <typename Accept>
    std::optional<JsonNode> takeIf(QStringView key, const Accept& accept) {
        const auto found = std::find_if(m_object.begin(), m_object.end(),
                                        [key](const JsonMember& member) { return member.key == key; });
        if (found == m_object.end() || !accept(found->value)) return std::nullopt;
        JsonNode value = std::move(found->value);
        m_object.erase(found);
        m_taken << key.toString();
        return value;
    }
    template <typename Accept>
    void take(QStringView key, const Accept& accept) {
        takeIf(key, accept);
    }

    JsonObject m_object;
    QStringList m_taken;
};

// One list of fields for writing and reading: a field that is written is read back.

template <typename Fields, typename Sampling>
void samplingFields(Fields& fields, Sampling& sampling) {
    fields.field(u"temperature", sampling.temperature);
    fields.field(u"top_p", sampling.topP);
    fields.field(u"top_k", sampling.topK);
    fields.field(u"min_p", sampling.minP);
    fields.field(u"repetition_penalty", sampling.repetitionPenalty);
    fields.field(u"presence_penalty", sampling.presencePenalty);
    fields.field(u"frequency_penalty", sampling.frequencyPenalty);
    fields.field(u"max_new_tokens", sampling.maxNewTokens);
    fields.field(u"context_size", sampling.contextSize);
    fields.field(u"seed", sampling.seed);
}

template <typename Fields, typename Facts>
void answerFields(Fields& fields, Facts& facts) {
    fields.field(u"model", facts.modelName);
    fields.field(u"model_hash", facts.modelHash);
    fields.field(u"precision", facts.precision);
    fields.field(u"device", facts.device);
    samplingFields(fields, facts.sampling);
    fields.field(u"prompt_tokens", facts.numPromptTokens);
    fields.field(u"reused_tokens", facts.numReusedTokens);
    fields.field(u"new_tokens", facts.numNewTokens);
    fields.field(u"dropped_rounds", facts.numDroppedRounds);
    fields.field(u"first_token_ms", facts.firstTokenMs);
    fields.field(u"decode_ms", facts.decodeMs);
    fields.field(u"tokens_per_second", facts.tokensPerSecond);
    fields.field(u"stop_reason", facts.stopReason);
}

template <typename Fields, typename Message>
void messageFields(Fields& fields, Message& message) {
    fields.always(u"id", message.id);
    fields.field(u"parent", message.parentId);
    fields.field(u"active", message.active, true);
    fields.field(u"role", message.role);
    fields.field(u"status", message.status);
    fields.field(u"created_ms", message.createdMs);
    fields.field(u"changed_ms", message.changedMs);
    fields.field(u"pinned", message.pinned);
    fields.field(u"deleted_ms", message.deletedMs);
    fields.always(u"text", message.text);
}

template <typename Fields, typename Conversation>
void conversationFields(Fields& fields, Conversation& conversation) {
    fields.always(u"id", conversation.id);
    fields.always(u"title", conversation.title);
    fields.field(u"title_source", conversation.titleSource);
    fields.field(u"folder", conversation.folder);
    fields.field(u"pinned", conversation.pinned);
    fields.field(u"created_ms", conversation.createdMs);
    fields.field(u"changed_ms", conversation.changedMs);
    fields.field(u"deleted_ms", conversation.deletedMs);
    fields.field(u"system_prompt", conversation.systemPrompt);
    fields.field(u"draft", conversation.draft);
}

JsonNode messageNode(const MessageDocument& message) {
    FieldWriter fields(message.unknown);
    messageFields(fields, message);
    if (message.answer) {
        FieldWriter answer(message.answer->unknown);
        answerFields(answer, *message.answer);
        fields.add(u"answer", answer.finish());
    }
    return fields.finish();
}

JsonNode conversationNode(const ConversationDocument& conversation) {
    FieldWriter fields(conversation.unknown);
    conversationFields(fields, conversation);
    JsonArray messages;
    messages.reserve(static_cast<std::size_t>(conversation.messages.size()));
    for (const MessageDocument& message : conversation.messages) messages.push_back(messageNode(message));
    fields.add(u"messages", JsonNode(std::move(messages)));
    return fields.finish();
}

MessageDocument messageFrom(JsonObject object, ImportReport& report) {
    MessageDocument message;
    FieldReader fields(std::move(object));
    messageFields(fields, message);
    if (auto node = fields.takeObject(u"answer")) {
        FieldReader answer(std::move(*node->object()));
        message.answer.emplace();
        answerFields(answer, *message.answer);
        message.answer->unknown = answer.rest(QStringLiteral("answer"), report);
    }
    message.unknown = fields.rest(QStringLiteral("message"), report);
    return message;
}

void reportRepairs(const TreeRepairs& repairs, ImportReport& report) {
    using What = ImportReport::What;
    report.add(What::NewId, {}, repairs.newIds);
    report.add(What::LostParent, {}, repairs.lostParents);
    report.add(What::MovedMessage, {}, repairs.movedMessages);
    report.add(What::ChangedActive, {}, repairs.changedActives);
}

}  // namespace

QByteArray toJson(std::span<const ConversationDocument> conversations, const QString& appVersion) {
    QByteArray text = "{\n  \"format\": ";
    appendJson(text, JsonNode(kDocumentFormat.toString()));
    text += ",\n  \"version\": ";
    appendJson(text, JsonNode(kDocumentVersion));
    text += ",\n  \"app_version\": ";
    appendJson(text, JsonNode(appVersion));
    text += ",\n  \"conversations\": [";
    for (std::size_t i = 0; i < conversations.size(); ++i) {
        text += i == 0 ? "\n    " : ",\n    ";
        appendJson(text, conversationNode(conversations[i]), 2);
    }
    text += conversations.empty() ? "]\n}\n" : "\n  ]\n}\n";
    return text;
}

ConversationDocument conversationFromJson(JsonObject object, ImportReport& report) {
    ConversationDocument conversation;
    FieldReader fields(std::move(object));
    conversationFields(fields, conversation);
    if (auto messages = fields.takeArray(u"messages")) {
        for (JsonNode& node : *messages->array()) {
            if (JsonObject* message = node.object()) {
                conversation.messages << messageFrom(std::move(*message), report);
            } else {
                report.add(ImportReport::What::DroppedMessage, QStringLiteral("not an object"));
            }
        }
    }
    conversation.unknown = fields.rest(QStringLiteral("conversation"), report);
    if (conversation.id.isEmpty()) {
        conversation.id = newId();
        report.add(ImportReport::What::NewId);
    }
    reportRepairs(repairTree(conversation), report);
    return conversation;
}

}  // namespace glmchat
