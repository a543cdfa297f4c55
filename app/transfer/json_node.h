#pragma once

#include <QByteArray>
#include <QString>
#include <utility>
#include <variant>
#include <vector>

namespace glmchat {

struct JsonMember;
class JsonNode;
using JsonArray = std::vector<JsonNode>;
using JsonObject = std::vector<JsonMember>;  ///< in the order of the file; of equal keys the first one counts

/// A JSON value that loses nothing: members keep their order, numbers their digits, strings every UTF-16
/// unit. (QJsonValue sorts members, rounds numbers to double and replaces lone surrogates.)
class JsonNode {
  public:
    /// A number as it is written. Grammatical JSON, always.
    struct Number {
        QByteArray digits;
        bool operator==(const Number&) const = default;
    };

    JsonNode();  ///< null
    explicit JsonNode(bool value);
    explicit JsonNode(qint64 value);
    explicit JsonNode(
        double value);  ///< shortest digits that give the same double; null for NaN and infinities
    explicit JsonNode(Number number);
    explicit JsonNode(QString value);
    explicit JsonNode(JsonArray value);
    explicit JsonNode(JsonObject value);
    JsonNode(const JsonNode&);
    JsonNode(JsonNode&&) noexcept;
    JsonNode& operator=(const JsonNode&);
    JsonNode& operator=(JsonNode&&) noexcept;
    ~JsonNode();

    bool isNull() const { return std::holds_alternative<std::monostate>(m_value); }
    const bool* boolean() const { return std::get_if<bool>(&m_value); }
    const Number* number() const { return std::get_if<Number>(&m_value); }
    const QString* string() const { return std::get_if<QString>(&m_value); }
    const JsonArray* array() const { return std::get_if<JsonArray>(&m_value); }
    const JsonObject* object() const { return std::get_if<JsonObject>(&m_value); }
    JsonArray* array() { return std::get_if<JsonArray>(&m_value); }
    JsonObject* object() { return std::get_if<JsonObject>(&m_value); }

    bool operator==(const JsonNode&) const;

  private:
    std::variant<std::monostate, bool, Number, QString, JsonArray, JsonObject> m_value;
};

struct JsonMember {
    QString key;
    JsonNode value;
    bool operator==(const JsonMember&) const = default;
};

// Here, where JsonMember is complete.
inline JsonNode::JsonNode() = default;
inline JsonNode::JsonNode(bool value) : m_value(value) {}
inline JsonNode::JsonNode(Number number) : m_value(std::move(number)) {}
inline JsonNode::JsonNode(QString value) : m_value(std::move(value)) {}
inline JsonNode::JsonNode(JsonArray value) : m_value(std::move(value)) {}
inline JsonNode::JsonNode(JsonObject value) : m_value(std::move(value)) {}
inline JsonNode::JsonNode(const JsonNode&) = default;
inline JsonNode::JsonNode(JsonNode&&) noexcept = default;
inline JsonNode& JsonNode::operator=(const JsonNode&) = default;
inline JsonNode& JsonNode::operator=(JsonNode&&) noexcept = default;
inline JsonNode::~JsonNode() = default;

/// The value of `key`, or null.
const JsonNode* findMember(const JsonObject& object, QStringView key);

/// Appends UTF-8 JSON, two spaces per level from `level` on. Controls and lone surrogates are written as
/// \uXXXX, so that the bytes are valid UTF-8 and reading them gives back the same UTF-16 units.
void appendJson(QByteArray& target, const JsonNode& node, int level = 0);

}  // namespace glmchat
