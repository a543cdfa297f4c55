#include "app/transfer/json_reader.h"

#include <QStringDecoder>
#include <algorithm>

namespace glmchat {
namespace {

constexpr QByteArrayView kByteOrderMark("\xEF\xBB\xBF");
constexpr qsizetype kReportEvery = qsizetype{1} << 18;  // bytes; a few milliseconds of reading

bool isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool isDigit(char c) {
    return c >= '0' && c <= '9';
}

}  // namespace

JsonReader::JsonReader(QByteArrayView text, std::stop_token stop, TransferProgress progress)
    : m_text(text), m_stop(std::move(stop)), m_progress(std::move(progress)) {
    if (m_text.startsWith(kByteOrderMark)) m_position = kByteOrderMark.size();
}

tl::unexpected<JsonError> JsonReader::fail(const char* reason, JsonError::Kind kind) const {
    const QByteArrayView before = m_text.first(m_position);
    const qsizetype lineBegin = before.lastIndexOf('\n') + 1;
    return tl::unexpected(JsonError{kind, QString::fromLatin1(reason), m_position, before.count('\n') + 1,
                                    m_position - lineBegin + 1});
}

void JsonReader::skipSpace() {
    while (m_position < m_text.size() && isSpace(m_text[m_position])) ++m_position;
}

bool JsonReader::atEnd() {
    skipSpace();
    return m_position == m_text.size();
}

char JsonReader::peek() {
    return atEnd() ? '\0' : m_text[m_position];
}

bool JsonReader::take(char character) {
    if (atEnd() || m_text[m_position] != character) return false;
    ++m_position;
    return true;
}

bool JsonReader::takeWord(QByteArrayView word) {
    if (!m_text.sliced(m_position).startsWith(word)) return false;
    m_position += word.size();
    return true;
}

/// @return false when the user wants to stop
bool JsonReader::report() {
    if (m_position < m_nextReport) return true;
    m_nextReport = m_position + kReportEvery;
    if (m_progress) m_progress(m_position, m_text.size());
    return !m_stop.stop_requested();
}

tl::expected<JsonNode, JsonError> JsonReader::readValue() {
    if (!report()) return fail("cancelled", JsonError::Kind::Cancelled);
    switch (peek()) {
        case '{':
            return readObject();
        case '[':
            return readArray();
        case '"':
            return readString().map([](QString text) { return JsonNode(std::move(text)); });
        case 't':
            if (takeWord("true")) return JsonNode(true);
            break;
        case 'f':
            if (takeWord("false")) return JsonNode(false);
            break;
        case 'n':
            if (takeWord("null")) return JsonNode();
            break;
        case '\0':
            if (m_position == m_text.size()) return fail("the text ends where a value should be");
            break;
        default:
            return readNumber();
    }
    return fail("this is not a value");
}

tl::expected<void, JsonError> JsonReader::enter(char opening) {
    if (!take(opening)) return fail("an array or object should be here");
    if (++m_depth > kMaxDepth) return fail("the nesting is too deep", JsonError::Kind::TooDeep);
    m_atFirstElement = true;
    return {};
}

tl::expected<bool, JsonError> JsonReader::next(char closing) {
    const bool isFirst = std::exchange(m_atFirstElement, false);
    if (take(closing)) {
        --m_depth;
        return false;
    }
    if (atEnd()) return fail("the text ends inside an array or object");
    if (!isFirst && !take(',')) return fail("a comma or a closing bracket should be here");
    return true;
}

tl::expected<JsonNode, JsonError> JsonReader::readArray() {
    if (const Step entered = enter('['); !entered) return tl::unexpected(entered.error());
    JsonArray items;
    for (;;) {
        const auto more = next(']');
        if (!more) return tl::unexpected(more.error());
        if (!*more) return JsonNode(std::move(items));
        auto item = readValue();
        if (!item) return item;
        items.push_back(std::move(*item));
    }
}

tl::expected<JsonNode, JsonError> JsonReader::readObject() {
    if (const Step entered = enter('{'); !entered) return tl::unexpected(entered.error());
    JsonObject members;
    for (;;) {
        const auto more = next('}');
        if (!more) return tl::unexpected(more.error());
        if (!*more) return JsonNode(std::move(members));
        auto key = readKey();
        if (!key) return tl::unexpected(key.error());
        auto value = readValue();
        if (!value) return value;
        members.push_back({std::move(*key), std::move(*value)});
    }
}

tl::expected<QString, JsonError> JsonReader::readKey() {
    if (peek() != '"') return fail("a name in double quotes should be here");
    auto key = readString();
    if (key && !take(':')) return fail("a colon should be here");
    return key;
}

tl::expected<JsonNode, JsonError> JsonReader::readNumber() {
    const qsizetype begin = m_position;
    const auto digits = [this] {
        const qsizetype first = m_position;
        while (m_position < m_text.size() && isDigit(m_text[m_position])) ++m_position;
        return m_position > first;
    };
    takeWord("-");
    if (!takeWord("0") && !digits()) return fail("this is not a value");
    if (takeWord(".") && !digits()) return fail("a digit should follow the point");
    if (takeWord("e") || takeWord("E")) {
        if (!takeWord("+")) takeWord("-");
        if (!digits()) return fail("a digit should be in the exponent");
    }
    return JsonNode(JsonNode::Number{m_text.sliced(begin, m_position - begin).toByteArray()});
}

void JsonReader::appendPlain(QString& target, qsizetype begin) {
    // Without this flag a byte order mark at the beginning of a string would be lost.
    QStringDecoder decoder(QStringDecoder::Utf8, QStringConverter::Flag::ConvertInitialBom);
    const qsizetype oldSize = target.size();
    target += decoder(m_text.sliced(begin, m_position - begin));
    if (decoder.hasError()) {
        m_numInvalidBytes += QStringView(target).sliced(oldSize).count(QChar(QChar::ReplacementCharacter));
    }
}

tl::expected<QString, JsonError> JsonReader::readString() {
    QString text;
    qsizetype plainBegin = ++m_position;
    for (; m_position < m_text.size(); ++m_position) {
        const auto byte = static_cast<unsigned char>(m_text[m_position]);
        if (byte == '"') {
            appendPlain(text, plainBegin);
            ++m_position;
            return text;
        }
        if (byte < 0x20) return fail("a control character stands in a string");
        if (byte != '\\') continue;
        appendPlain(text, plainBegin);
        if (const Step escape = readEscape(text); !escape) return tl::unexpected(escape.error());
        plainBegin = m_position + 1;
    }
    return fail("the text ends inside a string");
}

/// From the backslash to the last character of the escape.
tl::expected<void, JsonError> JsonReader::readEscape(QString& target) {
    constexpr QByteArrayView kNames("\"\\/bfnrt");
    constexpr QStringView kUnits(u"\"\\/\b\f\n\r\t");
    if (++m_position == m_text.size()) return fail("the text ends inside a string");
    if (const qsizetype i = kNames.indexOf(m_text[m_position]); i >= 0) {
        target += kUnits[i];
        return {};
    }
    const std::optional<char16_t> unit = hexUnit();
    if (!unit) return fail("this is not an escape of JSON");
    target += QChar(*unit);
    m_position += 4;
    return {};
}

/// Of an escape whose `u` is at the position.
std::optional<char16_t> JsonReader::hexUnit() const {
    if (m_text[m_position] != 'u' || m_text.size() - m_position < 5) return std::nullopt;
    const QByteArrayView digits = m_text.sliced(m_position + 1, 4);
    const auto isHex = [](char c) { return isDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); };
    if (!std::all_of(digits.begin(), digits.end(), isHex)) return std::nullopt;
    return static_cast<char16_t>(digits.toByteArray().toUInt(nullptr, 16));
}

}  // namespace glmchat
