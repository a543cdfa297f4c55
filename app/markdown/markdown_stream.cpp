#include "app/markdown/markdown_stream.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "app/markdown/preview.h"

namespace glmchat::markdown {
namespace {

constexpr qsizetype kMaxFenceIndent = 3;
constexpr qsizetype kMinFenceLength = 3;
constexpr qsizetype kCompactFrom = 65536;

qsizetype runLength(QStringView text, QChar character) {
    const auto end = std::find_if(text.begin(), text.end(), [&](QChar c) { return c != character; });
    return end - text.begin();
}

bool isBlank(QStringView text) {
    return std::all_of(text.begin(), text.end(),
                       [](QChar c) { return c == u' ' || c == u'\t' || c == u'\n'; });
}

/// A line taken apart as a fence: `   ```info`.
struct FenceLine {
    qsizetype indent = 0;
    QChar character;
    qsizetype length = 0;
    QStringView info;

    explicit FenceLine(QStringView line) : indent(runLength(line, u' ')) {
        line = line.sliced(indent);
        if (line.isEmpty() || (line.front() != u'`' && line.front() != u'~')) {
            info = line;
            return;
        }
        character = line.front();
        length = runLength(line, character);
        info = line.sliced(length);
    }

    bool opens() const {
        return indent <= kMaxFenceIndent && length >= kMinFenceLength &&
               (character == u'~' || !info.contains(u'`'));
    }
    bool closes(QChar fence, qsizetype fenceLength) const {
        return indent <= kMaxFenceIndent && character == fence && length >= fenceLength && isBlank(info);
    }
    /// Half a line that may still become the closing fence.
    bool mayClose(QChar fence, qsizetype fenceLength) const {
        const bool onlyFence = info.isEmpty() && (length == 0 || character == fence);
        return indent <= kMaxFenceIndent && (onlyFence || closes(fence, fenceLength));
    }
};

QChar cleaned(QChar c) {
    const char16_t code = c.unicode();
    const bool control = (code < 0x20 && code != u'\n' && code != u'\t') || code == 0x7F;
    const bool noncharacter = code >= 0xFDD0 && code <= 0xFDEF;
    return control || noncharacter ? QChar(QChar::ReplacementCharacter) : c;
}

bool endsSentence(QChar c) {
    return QStringView(u"。！？；…").contains(c);
}

/// Better not parted from the character before it: a closing bracket or quote, a mark, a joiner.
bool sticksToPrevious(QChar c) {
    return c.isMark() || c.isPunct() || c.isSpace() || c.category() == QChar::Other_Format;
}

bool maySeparate(QStringView text, qsizetype position) {
    const QChar previous = text[position - 1];
    if (text[position].isLowSurrogate() || sticksToPrevious(text[position])) return false;
    return endsSentence(previous) || (previous == u' ' && QStringView(u".!?;:").contains(text[position - 2]));
}

}  // namespace

void MarkdownStream::append(QStringView text) {
    take(text);
    closeUnits(false);
    showOpenUnit();
}

void MarkdownStream::finish() {
    if (std::exchange(m_heldReturn, false)) m_text += u'\n';
    closeUnits(true);
    m_blocks.resize(m_numFinal);
}

/// Takes text in, cleaned: whatever pieces it comes in, the same characters arrive.
void MarkdownStream::take(QStringView text) {
    m_text.reserve(m_text.size() + text.size());
    for (const QChar c : text) {
        if (m_heldReturn) m_text += u'\n';
        const bool pair = std::exchange(m_heldReturn, c == u'\r') && c == u'\n';
        if (!m_heldReturn && !pair && c != QChar(QChar::ByteOrderMark)) m_text += cleaned(c);
    }
}

void MarkdownStream::closeUnits(bool isEnd) {
    for (bool more = true; more;) {
        if (m_fence.length > 0) {
            more = takeCode(isEnd);
        } else {
            skipBlankLines();
            more = openFence(isEnd) || closeNextUnits(isEnd);
        }
    }
    if (m_begin < kCompactFrom) return;
    m_text.remove(0, m_begin);
    m_begin = m_checkedEnd = 0;
}

void MarkdownStream::skipBlankLines() {
    for (qsizetype end; (end = m_text.indexOf(u'\n', m_begin)) >= 0; m_begin = end + 1) {
        if (!isBlank(QStringView(m_text).sliced(m_begin, end - m_begin))) return;
        m_blankBefore = true;
    }
}

bool MarkdownStream::openFence(bool isEnd) {
    const qsizetype lineFeed = m_text.indexOf(u'\n', m_begin);
    if (lineFeed < 0 && !isEnd) return false;
    const qsizetype end = lineFeed < 0 ? m_text.size() : lineFeed;
    const QStringView line = QStringView(m_text).sliced(m_begin, end - m_begin);
    const FenceLine fence(line);
    if (!fence.opens()) return false;
    m_blocks.resize(m_numFinal);
    m_blocks.push_back(parseUnit(line).blocks.front());
    m_blocks.back().open = true;
    m_fence = {fence.character, fence.length, fence.indent};
    m_codeEnd = 0;
    m_codeHasLines = false;
    m_begin = std::min(end + 1, m_text.size());
    return true;
}

/// @return true when the code block is closed and more text follows
bool MarkdownStream::takeCode(bool isEnd) {
    QString& code = m_blocks.back().text;
    code.truncate(m_codeEnd);
    while (m_begin < m_text.size()) {
        const qsizetype lineFeed = m_text.indexOf(u'\n', m_begin);
        const bool whole = lineFeed >= 0 || isEnd;
        const qsizetype end = lineFeed < 0 ? m_text.size() : lineFeed;
        QStringView line = QStringView(m_text).sliced(m_begin, end - m_begin);
        const FenceLine fence(line);
        if (whole && fence.closes(m_fence.character, m_fence.length)) {
            m_begin = std::min(end + 1, m_text.size());
            closeCode();
            return true;
        }
        if (!whole && fence.mayClose(m_fence.character, m_fence.length)) return false;
        line = line.sliced(std::min(runLength(line, u' '), m_fence.indent));
        if (m_codeHasLines) code += u'\n';
        code += line;
        if (!whole) return false;
        m_codeHasLines = true;
        m_codeEnd = code.size();
        m_begin = std::min(end + 1, m_text.size());
    }
    if (isEnd) closeCode();
    return false;
}

void MarkdownStream::closeCode() {
    m_blocks.back().open = false;
    m_numFinal = m_blocks.size();
    m_fence = {};
    m_inList = m_continued = m_blankBefore = false;
    m_nextNumber = -1;
}

/// Makes those units final that what is known of the text ends. @return true when there were any
bool MarkdownStream::closeNextUnits(bool isEnd) {
    const Window window = nextWindow(isEnd);
    if (window.end <= m_begin || (!window.mustEnd && window.end == m_checkedEnd)) return false;
    const qsizetype begin = m_begin;
    const auto starts = unitStarts(QStringView(m_text).sliced(begin, window.end - begin));
    for (const UnitStart& start : starts) {
        closeUnit(begin + start.position, start.inList);
        if (start.fence) return true;
    }
    if (starts.empty() && window.mustEnd) {
        closeUnit(window.end, false);
        m_continued = m_begin < m_text.size();
        return true;
    }
    m_checkedEnd = window.end;
    return !starts.empty();
}

/// How far the open unit is looked at: whole lines, and not much more than a unit may be long.
MarkdownStream::Window MarkdownStream::nextWindow(bool isEnd) const {
    qsizetype lineBegin = m_begin;
    while (lineBegin < m_text.size()) {
        const qsizetype lineFeed = m_text.indexOf(u'\n', lineBegin);
        const qsizetype lineEnd = lineFeed < 0 ? m_text.size() : lineFeed;
        if (const qsizetype cut = longLineCut(lineBegin, lineEnd); cut > 0) return {cut, true};
        if (lineFeed < 0) break;
        lineBegin = lineFeed + 1;
        if (lineBegin - m_begin >= kLongUnit) return {lineBegin, true};
    }
    return isEnd ? Window{m_text.size(), true} : Window{lineBegin, false};
}

/// Where a line that is too long is parted; 0 when it is not.
qsizetype MarkdownStream::longLineCut(qsizetype lineBegin, qsizetype lineEnd) const {
    const qsizetype limit = lineBegin + kLongestLine;
    for (qsizetype at = lineBegin + kLongLine; at < std::min(lineEnd, limit); ++at) {
        if (maySeparate(m_text, at)) return at;
    }
    if (lineEnd <= limit) return 0;
    return m_text[limit].isLowSurrogate() ? limit - 1 : limit;
}

void MarkdownStream::closeUnit(qsizetype end, bool nextInList) {
    const QStringView source = QStringView(m_text).sliced(m_begin, end - m_begin);
    ParsedUnit unit = readUnit(source);
    m_blocks.resize(m_numFinal);
    std::move(unit.blocks.begin(), unit.blocks.end(), std::back_inserter(m_blocks));
    m_numFinal = m_blocks.size();
    m_begin = end;
    m_inList = nextInList;
    m_nextNumber = nextInList && unit.firstNumber >= 0 ? unit.firstNumber + 1 : -1;
    m_continued = false;
    const QStringView lines = source.endsWith(u'\n') ? source.chopped(1) : source;
    m_blankBefore = isBlank(lines.sliced(lines.lastIndexOf(u'\n') + 1));
}

ParsedUnit MarkdownStream::readUnit(QStringView source) const {
    ParsedUnit unit = parseUnit(source, m_nextNumber);
    if (unit.blocks.empty()) return unit;
    Gap& gap = unit.blocks.front().gap;
    gap = m_continued ? Gap::None : m_inList && !m_blankBefore ? Gap::Tight : Gap::Normal;
    return unit;
}

void MarkdownStream::showOpenUnit() {
    if (m_fence.length > 0) return;
    m_blocks.resize(m_numFinal);
    ParsedUnit unit = readUnit(previewText(QStringView(m_text).sliced(m_begin)));
    if (!unit.blocks.empty()) unit.blocks.back().open = true;
    std::move(unit.blocks.begin(), unit.blocks.end(), std::back_inserter(m_blocks));
}

}  // namespace glmchat::markdown
