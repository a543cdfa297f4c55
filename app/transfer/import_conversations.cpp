#include "app/transfer/import_conversations.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <algorithm>

#include "app/transfer/chatgpt_import.h"
#include "app/transfer/document_json.h"
#include "app/transfer/message_list_import.h"

namespace glmchat {
namespace {

using What = ImportReport::What;

/// Goes through a text and hands every conversation in it to the reader of its format.
class Importer {
  public:
    explicit Importer(JsonReader& reader) : m_reader(reader) {}

    /// The text may hold several values, one after the other ("JSON lines").
    tl::expected<ImportResult, JsonError> run() {
        do {
            const Step step = m_reader.peek() == '['   ? readArray()
                              : m_reader.peek() == '{' ? readObject()
                                                       : readOther();
            if (!step) return tl::unexpected(step.error());
        } while (!m_reader.atEnd());
        m_result.report.add(What::InvalidBytes, {}, m_reader.numInvalidBytes());
        return std::move(m_result);
    }

    bool isOwnFile() const { return m_isOwnFile; }  ///< which may be empty

  private:
    using Step = tl::expected<void, JsonError>;

    Step readOther() {
        const auto value = m_reader.readValue();
        if (!value) return tl::unexpected(value.error());
        m_result.report.add(What::NotAConversation);
        return {};
    }

    Step readArray() {
        MessageListImport list(m_result.report);
        const Step step = readElements(list);
        if (step && !list.isEmpty()) m_result.conversations << list.finish({});
        return step;
    }

    /// Messages that stand in the array itself are collected in `list`.
    Step readElements(MessageListImport& list) {
        if (const Step entered = m_reader.enter('['); !entered) return entered;
        for (;;) {
            const auto more = m_reader.next(']');
            if (!more) return tl::unexpected(more.error());
            if (!*more) return {};
            auto element = m_reader.readValue();
            if (!element) return tl::unexpected(element.error());
            if (isListedMessage(*element)) {
                list.add(*element);
            } else {
                take(std::move(*element));
            }
        }
    }

    /// A file of ours, or a single conversation.
    Step readObject() {
        if (const Step entered = m_reader.enter('{'); !entered) return entered;
        MessageListImport list(m_result.report);
        JsonObject about;
        bool hasConversations = false;
        for (;;) {
            const auto more = m_reader.next('}');
            if (!more) return tl::unexpected(more.error());
            if (!*more) break;
            auto key = m_reader.readKey();
            if (!key) return tl::unexpected(key.error());
            if (*key == u"conversations" && m_reader.peek() == '[') {
                hasConversations = true;
                if (const Step step = readElements(list); !step) return step;
                continue;
            }
            auto value = m_reader.readValue();
            if (!value) return tl::unexpected(value.error());
            about.push_back({std::move(*key), std::move(*value)});
        }
        if (!list.isEmpty()) {
            m_result.conversations << list.finish(about);
        } else if (hasConversations) {
            takeHeader(about);
        } else {
            take(JsonNode(std::move(about)));
        }
        return {};
    }

    void takeHeader(const JsonObject& header) {
        const JsonNode* format = findMember(header, u"format");
        m_isOwnFile = format && format->string() && *format->string() == kDocumentFormat;
        for (const JsonMember& member : header) {
            if (member.key == u"format" || member.key == u"app_version") continue;
            if (member.key != u"version" || !member.value.number()) {
                m_result.report.add(What::DroppedField, member.key);
            } else if (member.value.number()->digits.toDouble() > static_cast<double>(kDocumentVersion)) {
                m_result.report.add(What::NewerVersion, QString::fromLatin1(member.value.number()->digits));
            }
        }
    }

    void take(JsonNode element) {
        if (const JsonArray* messages = element.array()) return takeMessages(*messages, {});
        JsonObject* object = element.object();
        if (!object) return m_result.report.add(What::NotAConversation);
        const auto list = [object](QStringView key) {
            const JsonNode* node = findMember(*object, key);
            return node ? node->array() : nullptr;
        };
        if (const JsonNode* mapping = findMember(*object, u"mapping"); mapping && mapping->object()) {
            m_result.conversations << conversationFromChatGpt(*object, m_result.report);
        } else if (const JsonArray* turns = list(u"conversations")) {
            takeMessages(*turns, *object);
        } else if (const JsonArray* messages = list(u"messages")) {
            if (isForeign(*messages)) {
                takeMessages(*messages, *object);
            } else {
                m_result.conversations << conversationFromJson(std::move(*object), m_result.report);
            }
        } else {
            m_result.report.add(What::NotAConversation);
        }
    }

    /// Messages of ours have a "text", those of others a "content".
    static bool isForeign(const JsonArray& messages) {
        return std::any_of(messages.begin(), messages.end(), [](const JsonNode& message) {
            return message.object() && !findMember(*message.object(), u"text") &&
                   (findMember(*message.object(), u"content") || findMember(*message.object(), u"value"));
        });
    }

    void takeMessages(const JsonArray& messages, const JsonObject& about) {
        MessageListImport list(m_result.report);
        for (const JsonNode& message : messages) list.add(message);
        if (!list.isEmpty()) m_result.conversations << list.finish(about);
    }

    JsonReader& m_reader;
    ImportResult m_result;
    bool m_isOwnFile = false;
};

tl::unexpected<TransferError> failure(TransferError::Kind kind, const QString& path, const QString& message) {
    QString sentence = message;
    sentence.replace(QLatin1String("%1"), QDir::toNativeSeparators(path));
    return tl::unexpected(TransferError{kind, path, sentence});
}

TransferError describe(const JsonError& error, const QString& name) {
    using Kind = TransferError::Kind;
    if (error.kind == JsonError::Kind::Cancelled) {
        return failure(Kind::Cancelled, name,
                       QStringLiteral("Reading %1 was cancelled; nothing was imported."))
            .value();
    }
    const QString place = QStringLiteral(" (line %1, column %2)").arg(error.line).arg(error.column);
    const bool tooDeep = error.kind == JsonError::Kind::TooDeep;
    return failure(tooDeep ? Kind::TooDeep : Kind::NotJson, name,
                   QStringLiteral("%1 is not a JSON file that can be read: ") + error.reason + place +
                       QStringLiteral(". Nothing was imported. Export or download the file again."))
        .value();
}

}  // namespace

tl::expected<ImportResult, TransferError> importConversations(QByteArrayView text, const QString& name,
                                                              std::stop_token stop,
                                                              TransferProgress progress) {
    JsonReader reader(text, std::move(stop), std::move(progress));
    Importer importer(reader);
    auto result = importer.run();
    if (!result) return tl::unexpected(describe(result.error(), name));
    if (result->conversations.isEmpty() && !importer.isOwnFile()) {
        return failure(
            TransferError::Kind::NoConversations, name,
            QStringLiteral("%1 holds no conversation that is known here. It can be a JSON export of "
                           "glmchat, ChatGPT's conversations.json, ShareGPT, or a list of messages with "
                           "\"role\" and \"content\"."));
    }
    return std::move(*result);
}

tl::expected<ImportResult, TransferError> importFile(const QString& path, std::stop_token stop,
                                                     TransferProgress progress) {
    using Kind = TransferError::Kind;
    QFile file(path);
    if (QFileInfo(path).isDir() || !file.open(QIODevice::ReadOnly)) {
        return failure(Kind::CannotRead, path,
                       QStringLiteral("%1 cannot be opened: ") + file.errorString() +
                           QStringLiteral(". Check that it is a file and may be read."));
    }
    if (file.size() > kMaxImportBytes || file.isSequential()) {
        return failure(
            Kind::TooBig, path,
            QStringLiteral("%1 is bigger than 1 GiB, or has no size. Split it into several files."));
    }
    const QByteArray text = file.readAll();
    if (file.error() != QFileDevice::NoError) {
        return failure(Kind::CannotRead, path,
                       QStringLiteral("%1 cannot be read to its end: ") + file.errorString() +
                           QStringLiteral(". Check the disk, or copy the file again."));
    }
    return importConversations(text, path, std::move(stop), std::move(progress));
}

}  // namespace glmchat
