#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QPainter>
#include <QPdfWriter>
#include <QTextBlock>
#include <QTextDocument>

#include "app/transfer/export_html.h"
#include "app/transfer/markdown_html.h"
#include "app/transfer/outline.h"

namespace glmchat {
namespace {

constexpr int kDotsPerInch = 96;  // sizes of the layout below; the file itself is of vectors
constexpr double kMarginMm = 18;
constexpr double kFooterHeight = 28;  // dots
constexpr int kTextPoints = 10;
constexpr int kFooterPoints = 8;

constexpr const char* kStyle = R"(
h1 { font-size: 18pt; }
h2 { font-size: 11pt; color: #1a4a9c; }
h3 { font-size: 12pt; } h4 { font-size: 11pt; } h5, h6 { font-size: 10pt; }
p.facts { font-size: 8pt; color: #555555; }
pre { background-color: #f2f4f8; font-size: 9pt; }
pre, code { font-family: "DejaVu Sans Mono", "Noto Sans Mono CJK SC", monospace; }
th, td { padding: 3px; }
)";

/// Fonts that between them have Latin and Chinese on every system we know. Latin stands first: digits drawn
/// from a Chinese font cannot be copied out of the file as digits.
QFont textFont() {
    QFont font;
    font.setPointSize(kTextPoints);
    font.setFamilies({QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans"), QStringLiteral("Segoe UI"),
                      QStringLiteral("Helvetica Neue"), QStringLiteral("Noto Sans CJK SC"),
                      QStringLiteral("PingFang SC"), QStringLiteral("Microsoft YaHei")});
    return font;
}

QByteArray paragraphs(const QString& text) {
    return "<p style=\"white-space: pre-wrap\">" + escapeHtml(cleanText(text)) + "</p>\n";
}

QByteArray heading(const QString& text, const QString& facts) {
    QByteArray html = "<h2>" + escapeHtml(text) + "</h2>\n";
    if (!facts.isEmpty()) html += "<p class=\"facts\">" + escapeHtml(facts) + "</p>\n";
    return html;
}

/// QTextDocument would make a line, or an item of a list, of the line end after the last line of code.
QByteArray answerHtml(const QString& markdown) {
    return markdownToHtml(markdown).replace("\n</code></pre>", "</code></pre>");
}

/// The subset of HTML that QTextDocument draws.
QByteArray conversationHtml(const Outline& outline, const ExportOptions& options, bool onNewPage) {
    QByteArray html = onNewPage ? "<h1 style=\"page-break-before: always\">" : "<h1>";
    html += escapeHtml(outline.title) + "</h1>\n";
    for (const Outline::Fact& fact : outline.facts) {
        html += "<p class=\"facts\">" + escapeHtml(fact.label) + ": " + escapeHtml(fact.value) + "</p>\n";
    }
    if (!outline.systemPrompt.isEmpty()) {
        html += heading(options.words.systemPrompt, {}) + paragraphs(outline.systemPrompt);
    }
    for (const Outline::Message& message : outline.messages) {
        html += heading(message.heading, message.facts);
        html += message.role == DocumentRole::User ? paragraphs(message.text) : answerHtml(message.text);
    }
    return html;
}

/// Lines of code would run over the edge of the paper.
void wrapCode(QTextDocument& document) {
    QTextOption option = document.defaultTextOption();
    option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
    document.setDefaultTextOption(option);
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        if (!block.blockFormat().nonBreakableLines()) continue;
        QTextBlockFormat format = block.blockFormat();
        format.setNonBreakableLines(false);
        QTextCursor(block).setBlockFormat(format);
    }
}

void drawPage(QPainter& painter, QTextDocument& document, int page, const QString& footer) {
    const QSizeF size = document.pageSize();
    painter.save();
    painter.translate(0, -page * size.height());
    document.drawContents(&painter, QRectF(0, page * size.height(), size.width(), size.height()));
    painter.restore();
    QFont font = textFont();
    font.setPointSize(kFooterPoints);
    painter.setFont(font);
    painter.drawText(QRectF(0, size.height(), size.width(), kFooterHeight),
                     Qt::AlignHCenter | Qt::AlignBottom, footer);
}

bool drawPages(QPdfWriter& writer, QTextDocument& document, const QString& footer) {
    QPainter painter(&writer);
    if (!painter.isActive()) return false;
    const int numPages = document.pageCount();
    for (int page = 0; page < numPages; ++page) {
        if (page > 0 && !writer.newPage()) return false;
        drawPage(painter, document, page, footer.arg(page + 1).arg(numPages));
    }
    return painter.end();
}

}  // namespace

QByteArray toPdf(std::span<const ConversationDocument> conversations, const ExportOptions& options) {
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    writer.setResolution(kDotsPerInch);
    writer.setPageSize(QPageSize(QPageSize::A4));
    writer.setPageMargins(QMarginsF(kMarginMm, kMarginMm, kMarginMm, kMarginMm), QPageLayout::Millimeter);
    writer.setCreator(QStringLiteral("glmchat ") + options.appVersion);

    QByteArray html;
    for (const ConversationDocument& conversation : conversations) {
        const Outline outline = outlineOf(conversation, options);
        if (html.isEmpty()) writer.setTitle(outline.title);
        html += conversationHtml(outline, options, !html.isEmpty());
    }
    QTextDocument document;
    document.setUndoRedoEnabled(false);
    document.setDocumentMargin(0);
    document.setDefaultFont(textFont());
    document.setDefaultStyleSheet(QString::fromLatin1(kStyle));
    document.documentLayout()->setPaintDevice(&writer);
    document.setHtml(QString::fromUtf8(html));
    wrapCode(document);
    document.setPageSize(QSizeF(writer.width(), writer.height() - kFooterHeight));
    return drawPages(writer, document, options.words.page) ? bytes : QByteArray();
}

}  // namespace glmchat
