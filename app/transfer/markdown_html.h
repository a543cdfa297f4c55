#pragma once

#include <QByteArray>
#include <QString>

namespace glmchat {

/// Markdown (CommonMark with GitHub's tables, strikethrough, task lists and bare links) as an HTML fragment
/// that is safe to show: HTML in the text is shown as text, pictures become links, links to scripts and files
/// lose their target. Nothing in it loads anything. Text that nests absurdly deep is shown as it is.
QByteArray markdownToHtml(const QString& markdown);

QByteArray escapeHtml(QStringView text);

/// Whether a text can stand under a heading of level 2 in a Markdown document without changing what follows
/// it or the outline: no heading above level 3, nothing left open at its end, no block of HTML.
bool keepsMarkdownStructure(const QString& markdown);

}  // namespace glmchat
