#include "app/transfer/json_node.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace glmchat {
namespace {

constexpr char16_t kFirstPrintable = 0x20;
constexpr char16_t kDelete = 0x7F;

void appendUnicodeEscape(QByteArray& target, char16_t unit) {
    target += "\\u" + QByteArray::number(unit, 16).rightJustified(4, '0');
}

void appendEscaped(QByteArray& target, char16_t unit) {
    switch (unit) {
        case u'"':
            target += "\\\"";
            return;
        case u'\\':
            target += "\\\\";
            return;
        case u'\n':
            target += "\\n";
            return;
        case u'\r':
            target += "\\r";
            return;
        case u'\t':
            target += "\\t";
            return;
        default:
            appendUnicodeEscape(target, unit);
    }
}

/// Units that cannot stand in a string as they are: JSON's own, controls, and surrogates without their other
/// half.
bool needsEscape(QStringView text, qsizetype i) {
    const QChar unit = text[i];
    if (unit < kFirstPrintable || unit == kDelete || unit == u'"' || unit == u'\\') return true;
    if (unit.isHighSurrogate()) return i + 1 == text.size() || !text[i + 1].isLowSurrogate();
    return unit.isLowSurrogate() && (i == 0 || !text[i - 1].isHighSurrogate());
}

void appendString(QByteArray& target, QStringView text) {
    target += '"';
    qsizetype plainBegin = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (!needsEscape(text, i)) continue;
        target += text.sliced(plainBegin, i - plainBegin).toUtf8();
        appendEscaped(target, text[i].unicode());
        plainBegin = i + 1;
    }
    target += text.sliced(plainBegin).toUtf8();
    target += '"';
}

void appendLine(QByteArray& target, int level) {
    target += '\n';
    target += QByteArray(2 * level, ' ');
}

void appendArray(QByteArray& target, const JsonArray& items, int level) {
    target += '[';
    for (const JsonNode& item : items) {
        if (&item != &items.front()) target += ',';
        appendLine(target, level + 1);
        appendJson(target, item, level + 1);
    }
    if (!items.empty()) appendLine(target, level);
    target += ']';
}

void appendObject(QByteArray& target, const JsonObject& members, int level) {
    target += '{';
    for (const JsonMember& member : members) {
        if (&member != &members.front()) target += ',';
        appendLine(target, level + 1);
        appendString(target, member.key);
        target += ": ";
        appendJson(target, member.value, level + 1);
    }
    if (!members.empty()) appendLine(target, level);
    target += '}';
}

}  // namespace

JsonNode::JsonNode(qint64 value) : m_value(Number{QByteArray::number(value)}) {}

JsonNode::JsonNode(double value) {
    if (!std::isfinite(value)) return;
    std::array<char, 32> digits{};  // the shortest form of a double has at most 24 characters
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    m_value = Number{QByteArray(digits.data(), end - digits.data())};
}

bool JsonNode::operator==(const JsonNode&) const = default;

const JsonNode* findMember(const JsonObject& object, QStringView key) {
    const auto found = std::find_if(object.begin(), object.end(),
                                    [key](const JsonMember& member) { return member.key == key; });
    return found == object.end() ? nullptr : &found->value;
}

void appendJson(QByteArray& target, const JsonNode& node, int level) {
    if (const bool* boolean = node.boolean()) {
        target += *boolean ? "true" : "false";
    } else if (const JsonNode::Number* number = node.number()) {
        target += number->digits;
    } else if (const QString* string = node.string()) {
        appendString(target, *string);
    } else if (const JsonArray* array = node.array()) {
        appendArray(target, *array, level);
    } else if (const JsonObject* object = node.object()) {
        appendObject(target, *object, level);
    } else {
        target += "null";
    }
}

}  // namespace glmchat
