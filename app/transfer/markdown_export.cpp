#include <QRegularExpression>
#include <QStringList>
#include <algorithm>

#include "app/transfer/export_text.h"
#include "app/transfer/markdown_html.h"
#include "app/transfer/outline.h"

namespace glmchat {
namespace {

constexpr int kLevelsDown = 2;  // our own headings are of levels 1 and 2
constexpr int kLowestLevel = 6;

QString escapeMarkdown(const QString& line) {
    QString escaped;
    for (const QChar character : line) {
        if (QStringView(u"\\`*_[]<>#|~&$").contains(character)) escaped += u'\\';
        escaped += character;
    }
    return escaped;
}

qsizetype longestRun(QStringView text, QChar character) {
    qsizetype longest = 0;
    qsizetype run = 0;
    for (const QChar unit : text) {
        run = unit == character ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return longest;
}

QString fenced(const QString& text) {
    constexpr qsizetype kShortestFence = 3;
    const QString fence(std::max(kShortestFence, longestRun(text, u'`') + 1), u'`');
    return fence + QStringLiteral("markdown\n") + text + u'\n' + fence;
}

/// Rewrites a text line by line. Whether the result is right is for examineMarkdown() to say.
class HeadingDemoter {
  public:
    QString demote(const QString& text) {
        for (const QString& line : text.split(u'\n')) takeLine(line);
        if (!m_fence.isEmpty()) m_lines << m_fence;
        return m_lines.join(u'\n');
    }

  private:
    void takeLine(const QString& line) {
        static const QRegularExpression kFence(QStringLiteral("^ {0,3}(`{3,}|~{3,})([^`]*)$"));
        static const QRegularExpression kUnderline(QStringLiteral("^ {0,3}(=+|-+)[ \t]*$"));
        const QRegularExpressionMatch fence = kFence.match(line);
        if (!m_fence.isEmpty()) {
            if (fence.hasMatch() && fence.captured(1).startsWith(m_fence) &&
                fence.capturedView(2).trimmed().isEmpty())
                m_fence.clear();
            m_lines << line;
            return;
        }
        if (fence.hasMatch()) m_fence = fence.captured(1);
        const QRegularExpressionMatch underline = kUnderline.match(line);
        if (underline.hasMatch() && endsOneLineParagraph()) {
            m_lines.last() =
                QString(underline.captured(1).startsWith(u'=') ? 1 + kLevelsDown : 2 + kLevelsDown, u'#') +
                u' ' + m_lines.last().trimmed();
            return;
        }
        m_lines << withTagsAsText(line);
        demoteHeading(m_lines.last());
    }

    /// "<smirk>" is text. Code may hold backslashes but not take any: lines with backticks are changed only
    /// where a block of HTML would begin, indented ones never.
    static QString withTagsAsText(QString line) {
        static const QRegularExpression kIndented(QStringLiteral("^(?: {4}| {0,3}\t)"));
        static const QRegularExpression kAnywhere(
            QStringLiteral("(?<!\\\\)<(?=[A-Za-z/!?])(?![A-Za-z][A-Za-z0-9+.-]*:)"));
        static const QRegularExpression kBlock(QStringLiteral(
            "^( {0,3}(?:(?:[-+*]|[0-9]{1,9}[.)]|>)[ \t]+)*)<(?=[A-Za-z/!?])(?![A-Za-z][A-Za-z0-9+.-]*:)"));
        if (kIndented.match(line).hasMatch()) return line;
        if (line.contains(u'`')) return line.replace(kBlock, QStringLiteral("\\1\\<"));
        return line.replace(kAnywhere, QStringLiteral("\\<"));
    }

    bool endsOneLineParagraph() const {
        if (m_lines.isEmpty() || m_lines.last().trimmed().isEmpty()) return false;
        return m_lines.size() == 1 || m_lines[m_lines.size() - 2].trimmed().isEmpty();
    }

    static void demoteHeading(QString& line) {
        static const QRegularExpression kHeading(QStringLiteral("^ {0,3}(#{1,6})(?=[ \t]|$)"));
        const QRegularExpressionMatch heading = kHeading.match(line);
        if (!heading.hasMatch()) return;
        const qsizetype level = std::min<qsizetype>(heading.capturedLength(1) + kLevelsDown, kLowestLevel);
        line.replace(heading.capturedStart(1), heading.capturedLength(1), QString(level, u'#'));
    }

    QStringList m_lines;
    QString m_fence;  ///< that is open
};

QString italic(const QString& line) {
    return u'*' + escapeMarkdown(line) + u'*';
}

void appendConversation(QStringList& paragraphs, const Outline& outline, const ExportOptions& options) {
    paragraphs << QStringLiteral("# ") + escapeMarkdown(outline.title);
    QStringList facts;
    for (const Outline::Fact& fact : outline.facts) {
        facts << QStringLiteral("- **%1**: %2").arg(fact.label, escapeMarkdown(fact.value));
    }
    if (!facts.isEmpty()) paragraphs << facts.join(u'\n');
    if (!outline.systemPrompt.isEmpty()) {
        paragraphs << QStringLiteral("## ") + options.words.systemPrompt
                   << embedMarkdown(outline.systemPrompt);
    }
    for (const Outline::Message& message : outline.messages) {
        paragraphs << QStringLiteral("## ") + escapeMarkdown(message.heading);
        if (!message.facts.isEmpty()) paragraphs << italic(message.facts);
        if (const QString text = embedMarkdown(message.text); !text.isEmpty()) paragraphs << text;
    }
}

}  // namespace

QString embedMarkdown(const QString& text) {
    static const QRegularExpression kBlankEnds(QStringLiteral("^(?:[ \t]*\n)+|\\s+$"));
    const QString clean = cleanText(text).remove(kBlankEnds);
    if (const MarkdownTraits traits = examineMarkdown(clean);
        traits.keepsStructure && !traits.hasInlineHtml) {
        return clean;
    }
    const QString lowered = HeadingDemoter().demote(clean);
    return examineMarkdown(lowered).keepsStructure ? lowered : fenced(clean);
}

QByteArray toMarkdown(std::span<const ConversationDocument> conversations, const ExportOptions& options) {
    QStringList paragraphs;
    for (const ConversationDocument& conversation : conversations) {
        appendConversation(paragraphs, outlineOf(conversation, options), options);
    }
    return (paragraphs.join(QStringLiteral("\n\n")) + u'\n').toUtf8();
}

}  // namespace glmchat
