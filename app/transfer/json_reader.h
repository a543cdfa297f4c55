#pragma once

#include <QByteArrayView>
#include <QString>
#include <functional>
#include <optional>
#include <stop_token>

#include <tl/expected.hpp>

#include "app/transfer/json_node.h"

namespace glmchat {

/// Where and why a text is not JSON.
struct JsonError {
    enum class Kind { Syntax, TooDeep, Cancelled };
    Kind kind = Kind::Syntax;
    QString reason;     ///< English, without a full stop
    qint64 offset = 0;  ///< bytes from the beginning
    qint64 line = 1;
    qint64 column = 1;  ///< bytes from the line's beginning, from 1
};

/// Told while a long text is read: bytes done, bytes in all. Called on the reading thread.
using TransferProgress = std::function<void(qint64 done, qint64 total)>;

/// Reads JSON piece by piece, so that of a big file only one conversation at a time is held as a tree. Never
/// reads outside the text, whatever it holds. The text must outlive the reader.
class JsonReader {
  public:
    static constexpr int kMaxDepth =
        128;  ///< of arrays and objects in each other; the stack is bounded by it

    explicit JsonReader(QByteArrayView text, std::stop_token stop = {}, TransferProgress progress = {});

    /// The next value, whole.
    tl::expected<JsonNode, JsonError> readValue();

    bool atEnd();  ///< nothing but white space is left
    char peek();   ///< first character of what comes next; NUL at the end

    /// Goes into the array or object that comes next (peek() says which).
    tl::expected<void, JsonError> enter(char opening);
    /// In an array or object: true = an element or a key comes next; false = it has ended and was left.
    tl::expected<bool, JsonError> next(char closing);
    tl::expected<QString, JsonError> readKey();  ///< and its colon

    qint64 numInvalidBytes() const { return m_numInvalidBytes; }  ///< not UTF-8; read as U+FFFD

  private:
    using Step = tl::expected<void, JsonError>;

    void skipSpace();
    bool take(char character);
    bool takeWord(QByteArrayView word);
    tl::expected<JsonNode, JsonError> readArray();
    tl::expected<JsonNode, JsonError> readObject();
    tl::expected<JsonNode, JsonError> readNumber();
    tl::expected<QString, JsonError> readString();
    Step readEscape(QString& target);
    std::optional<char16_t> hexUnit() const;
    void appendPlain(QString& target, qsizetype begin);
    bool report();
    tl::unexpected<JsonError> fail(const char* reason, JsonError::Kind kind = JsonError::Kind::Syntax) const;

    const QByteArrayView m_text;
    const std::stop_token m_stop;
    const TransferProgress m_progress;
    qsizetype m_position = 0;
    qsizetype m_nextReport = 0;
    qint64 m_numInvalidBytes = 0;
    int m_depth = 0;
    bool m_atFirstElement = false;  ///< of the array or object just entered: no comma before it
};

}  // namespace glmchat
