#pragma once

#include <QByteArray>
#include <QString>

namespace glmchat {

/// Markdown (CommonMark with GitHub's tables, strikethrough, task lists and bare links) as an HTML fragment
/// that is safe to show: HTML in the text is shown as text, pictures become links, links to scripts and files
/// lose their target, headings begin at level 3. Nothing in it loads anything. Text that nests absurdly deep
/// is shown as it is.
QByteArray markdownToHtml(const QString& markdown);

QByteArray escapeHtml(QStringView text);

/// What a text does when it stands under a heading of level 2 of a Markdown document.
struct MarkdownTraits {
    bool keepsStructure =
        false;                   ///< no heading above level 3, nothing left open at its end, no block of HTML
    bool hasInlineHtml = false;  ///< "<smirk>": readers of Markdown do not show it
};
MarkdownTraits examineMarkdown(const QString& markdown);

}  // namespace glmchat
