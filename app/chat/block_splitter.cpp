#include "app/chat/block_splitter.h"

#include <algorithm>

namespace glmchat {
namespace {

constexpr qsizetype kMaxFenceIndent = 3;
constexpr qsizetype kMinFenceLength = 3;

qsizetype runLength(QStringView text, QChar character) {
    const auto end = std::find_if(text.begin(), text.end(), [&](QChar c) { return c != character; });
    return end - text.begin();
}

bool isBlank(QStringView text) {
    return std::all_of(text.begin(), text.end(), [](QChar c) { return c.isSpace(); });
}

/// A line taken apart as a fence: `   ```info`.
struct FenceLine {
    qsizetype indent = 0;
    QChar character;
    qsizetype length = 0;
    QStringView info;

    explicit FenceLine(QStringView line) {
        indent = runLength(line, u' ');
        line = line.sliced(indent);
        if (line.isEmpty()) return;
        character = line.front();
        if (character != u'`' && character != u'~') {
            character = QChar();
            info = line;
            return;
        }
        length = runLength(line, character);
        info = line.sliced(length);
    }

    bool opens() const { return length >= kMinFenceLength && infoFits(); }
    bool mayOpen() const { return info.isEmpty() ? indentFits() : opens(); }

    bool closes(QChar fence, qsizetype fence_length) const {
        return indentFits() && character == fence && length >= fence_length && isBlank(info);
    }
    bool mayClose(QChar fence, qsizetype fence_length) const {
        const bool only_fence_so_far = info.isEmpty() && (length == 0 || character == fence);
        return indentFits() && (only_fence_so_far || closes(fence, fence_length));
    }

  private:
    bool indentFits() const { return indent <= kMaxFenceIndent; }
    bool infoFits() const {
        return indentFits() && info.size() <= BlockSplitter::kMaxInfoLength &&
               (character == u'~' || !info.contains(u'`'));
    }
};

QString languageOf(QStringView info) {
    const QStringView trimmed = info.trimmed();
    const auto end = std::find_if(trimmed.begin(), trimmed.end(), [](QChar c) { return c.isSpace(); });
    return trimmed.first(end - trimmed.begin()).toString();
}

QStringView withoutCarriageReturn(QStringView line) {
    return line.endsWith(u'\r') ? line.chopped(1) : line;
}

void appendWithoutCarriageReturns(QString& target, QStringView text) {
    if (!text.contains(u'\r')) {
        target += text;
        return;
    }
    QString cleaned = text.toString();
    target += cleaned.remove(u'\r');
}

bool endsSentence(QChar c) {
    return QStringView(u"。！？；…").contains(c);
}
bool endsSentenceBeforeSpace(QChar c) {
    return QStringView(u".!?;:").contains(c);
}
/// Better not parted from the character before it: a closing bracket or quote, a mark, a joiner.
bool sticksToPrevious(QChar c) {
    return c.isMark() || c.isPunct() || c.isSpace() || c.category() == QChar::Other_Format;
}

}  // namespace

void BlockSplitter::append(QStringView text) {
    qsizetype searchFrom = m_source.size();
    m_source += text;
    for (qsizetype end; (end = m_source.indexOf(u'\n', searchFrom)) >= 0; searchFrom = end + 1) {
        takeLine(end, end + 1);
    }
    showPartialLine();
}

void BlockSplitter::finish() {
    if (m_lineBegin < m_source.size()) takeLine(m_source.size(), m_source.size());
    closeBlock();
}

/// A whole line: from m_lineBegin to `end`; `nextLine` lies after its line feed.
void BlockSplitter::takeLine(qsizetype end, qsizetype nextLine) {
    const QStringView line =
        withoutCarriageReturn(QStringView(m_source).sliced(m_lineBegin, end - m_lineBegin));
    if (inCode()) {
        takeCodeLine(line, end);
    } else {
        takeProseLine(line, nextLine);
    }
    m_lineBegin = m_shownEnd = nextLine;
}

void BlockSplitter::takeProseLine(QStringView line, qsizetype nextLine) {
    if (lineIsShown() || line.size() > kLongestHeldLine) return showProse(nextLine);
    const FenceLine fence(line);
    if (fence.opens()) {
        closeBlock();
        openBlock(BlockKind::Code, m_lineBegin);
        m_blocks.back().language = languageOf(fence.info);
        m_fence = {fence.character, fence.length, fence.indent};
        m_codeHasLines = false;
    } else if (isBlank(line)) {
        closeBlock();
    } else {
        showProse(nextLine);
    }
}

void BlockSplitter::takeCodeLine(QStringView line, qsizetype end) {
    const bool decided = lineIsShown() || line.size() > kLongestHeldLine;
    if (!decided && FenceLine(line).closes(m_fence.character, m_fence.length)) {
        closeBlock();
    } else {
        showCode(end);
    }
}

/// What of the unfinished line can be shown already.
void BlockSplitter::showPartialLine() {
    const qsizetype end = m_source.size();
    const QStringView line = QStringView(m_source).sliced(m_lineBegin);
    if (line.isEmpty()) return;
    if (!lineIsShown() && line.size() <= kLongestHeldLine) {
        const FenceLine fence(line);
        if (inCode() ? fence.mayClose(m_fence.character, m_fence.length) : fence.mayOpen() || isBlank(line))
            return;
    }
    if (inCode()) {
        showCode(end);
    } else {
        showProse(end);
    }
}

void BlockSplitter::showProse(qsizetype end) {
    if (!m_hasOpenBlock) openBlock(BlockKind::Paragraph, m_lineBegin);
    while (m_shownEnd < end) {
        const qsizetype cut = paragraphCut(end);
        appendToParagraph(QStringView(m_source).sliced(m_shownEnd, cut - m_shownEnd));
        m_shownEnd = cut;
        if (cut == end) return;
        closeBlock();
        openBlock(BlockKind::Paragraph, cut);
        m_blocks.back().continued = true;
    }
}

void BlockSplitter::showCode(qsizetype end) {
    QString& text = m_blocks.back().text;
    if (!lineIsShown()) {
        if (m_codeHasLines) text += u'\n';
        m_codeHasLines = true;
        const QStringView line = QStringView(m_source).sliced(m_lineBegin, end - m_lineBegin);
        m_shownEnd += std::min(runLength(line, u' '), m_fence.indent);
    }
    appendWithoutCarriageReturns(text, QStringView(m_source).sliced(m_shownEnd, end - m_shownEnd));
    m_shownEnd = end;
}

void BlockSplitter::appendToParagraph(QStringView text) {
    const auto lastVisible = std::find_if(text.rbegin(), text.rend(), [](QChar c) { return !c.isSpace(); });
    const qsizetype visible = text.rend() - lastVisible;
    if (visible > 0) {
        QString& shown = m_blocks.back().text;
        appendWithoutCarriageReturns(shown, m_heldSpace);
        appendWithoutCarriageReturns(shown, text.first(visible));
        m_heldSpace.clear();
    }
    m_heldSpace += text.sliced(visible);
}

/// Where the open paragraph ends when it takes the source up to `end`: at `end`, or before it when it gets
/// too long.
qsizetype BlockSplitter::paragraphCut(qsizetype end) const {
    const qsizetype begin = m_blocks.back().sourceBegin;
    for (qsizetype position = std::max(m_shownEnd, begin + kLongParagraph); position < end; ++position) {
        if (maySeparate(position)) return position;
    }
    return end;
}

/// True when a line or sentence ends before `position`, or the paragraph is so long that any character will
/// do.
bool BlockSplitter::maySeparate(qsizetype position) const {
    const QChar previous = m_source[position - 1];
    const QChar next = m_source[position];
    if (next.isLowSurrogate()) return false;
    if (previous == u'\n' || position - m_blocks.back().sourceBegin >= kLongestParagraph) return true;
    if (sticksToPrevious(next)) return false;
    return endsSentence(previous) || (previous.isSpace() && endsSentenceBeforeSpace(m_source[position - 2]));
}

void BlockSplitter::openBlock(BlockKind::Value kind, qsizetype sourceBegin) {
    TextBlock block;
    block.kind = kind;
    block.sourceBegin = m_blocks.empty() ? 0 : sourceBegin;
    m_blocks.push_back(std::move(block));
    m_hasOpenBlock = true;
}

void BlockSplitter::closeBlock() {
    if (m_hasOpenBlock) m_blocks.back().open = false;
    m_hasOpenBlock = false;
    m_heldSpace.clear();
    m_fence = {};
}

}  // namespace glmchat
