#include "app/transfer/export_html.h"
#include "app/transfer/markdown_html.h"
#include "app/transfer/outline.h"

namespace glmchat {
namespace {

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; --text: #1d2129; --back: #ffffff; --soft: #f2f4f8; --line: #d6dae2; --quiet: #596273; --link: #1a57c0; }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6e8ec; --back: #16181d; --soft: #22262e; --line: #3a404c; --quiet: #a3abba; --link: #8ab4ff; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 52rem; padding: 1.5rem 1rem 4rem; color: var(--text); background: var(--back);
  font: 1rem/1.65 system-ui, "Noto Sans", "Noto Sans CJK SC", "PingFang SC", "Microsoft YaHei", sans-serif;
  overflow-wrap: anywhere; }
a { color: var(--link); }
h1 { font-size: 1.6rem; line-height: 1.3; }
header dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; color: var(--quiet); font-size: .875rem; }
header dd { margin: 0; }
section { margin: 1.5rem 0; }
section > h2 { margin: 0; font-size: .95rem; }
section > .facts { margin: 0; color: var(--quiet); font-size: .8rem; }
.user > .text, .system > .text { padding: .6rem .9rem; border-radius: .6rem; background: var(--soft); }
.plain { white-space: pre-wrap; }
pre { padding: .8rem; border: 1px solid var(--line); border-radius: .4rem; background: var(--soft); white-space: pre-wrap; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", "Noto Sans Mono CJK SC", Consolas, monospace; font-size: .9em; }
pre code { font-size: 1em; }
table { border-collapse: collapse; }
th, td { padding: .25rem .6rem; border: 1px solid var(--line); }
blockquote { margin-left: 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--quiet); }
article + article { margin-top: 3rem; padding-top: 1rem; border-top: 2px solid var(--line); }
@media print {
  :root { --text: #000; --back: #fff; --soft: #f4f4f4; --line: #bbb; --quiet: #444; --link: #000; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  nav { display: none; }
  section > h2 { break-after: avoid; }
  article + article { break-before: page; border-top: 0; }
}
)";

QByteArray element(const char* name, const QByteArray& content) {
    return QByteArray("<") + name + ">" + content + "</" + name + ">\n";
}

QByteArray factsList(const Outline& outline) {
    QByteArray rows;
    for (const Outline::Fact& fact : outline.facts) {
        rows += "<dt>" + escapeHtml(fact.label) + "</dt><dd>" + escapeHtml(fact.value) + "</dd>\n";
    }
    return rows.isEmpty() ? rows : element("dl", "\n" + rows);
}

QByteArray section(const char* kind, const QString& heading, const QString& facts,
                   const QByteArray& content) {
    QByteArray html = QByteArray("<section class=\"") + kind + "\">\n" + element("h2", escapeHtml(heading));
    if (!facts.isEmpty()) html += "<p class=\"facts\">" + escapeHtml(facts) + "</p>\n";
    return html + content + "</section>\n";
}

QByteArray plainText(const QString& text) {
    return "<div class=\"text plain\">" + escapeHtml(cleanText(text)) + "</div>\n";
}

/// People type plain text; answers are Markdown.
QByteArray messageHtml(const Outline::Message& message) {
    if (message.role == DocumentRole::User) {
        return section("user", message.heading, message.facts, plainText(message.text));
    }
    return section("assistant", message.heading, message.facts,
                   "<div class=\"text\">\n" + markdownToHtml(message.text) + "</div>\n");
}

QByteArray articleHtml(const Outline& outline, std::size_t number, const ExportOptions& options) {
    QByteArray html = "<article id=\"c" + QByteArray::number(static_cast<qulonglong>(number)) + "\">\n";
    html += element("header", "\n" + element("h1", escapeHtml(outline.title)) + factsList(outline));
    if (!outline.systemPrompt.isEmpty()) {
        html += section("system", options.words.systemPrompt, {}, plainText(outline.systemPrompt));
    }
    for (const Outline::Message& message : outline.messages) html += messageHtml(message);
    return html + "</article>\n";
}

QByteArray contentsHtml(const QList<Outline>& outlines, const ExportOptions& options) {
    QByteArray rows;
    for (qsizetype i = 0; i < outlines.size(); ++i) {
        rows += "<li><a href=\"#c" + QByteArray::number(i + 1) + "\">" + escapeHtml(outlines[i].title) +
                "</a></li>\n";
    }
    return "<nav>\n" + element("h2", escapeHtml(options.words.contents)) + element("ol", "\n" + rows) +
           "</nav>\n";
}

}  // namespace

QByteArray toHtml(std::span<const ConversationDocument> conversations, const ExportOptions& options) {
    QList<Outline> outlines;
    for (const ConversationDocument& conversation : conversations)
        outlines << outlineOf(conversation, options);
    const QString title = outlines.size() == 1 ? outlines.first().title : QStringLiteral("glmchat");
    QByteArray html = "<!DOCTYPE html>\n<html lang=\"" + escapeHtml(options.language) + "\">\n<head>\n";
    html +=
        "<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'\">\n"
        "<meta name=\"referrer\" content=\"no-referrer\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
    html += element("title", escapeHtml(title)) + element("style", kStyle) + "</head>\n<body>\n";
    if (outlines.size() > 1) html += contentsHtml(outlines, options);
    for (qsizetype i = 0; i < outlines.size(); ++i) {
        html += articleHtml(outlines[i], static_cast<std::size_t>(i + 1), options);
    }
    return html + "</body>\n</html>\n";
}

}  // namespace glmchat
