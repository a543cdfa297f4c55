#include "app/markdown/inline_markup.h"

#include <QUrl>

namespace glmchat::markdown {
namespace {

constexpr QStringView kBreak = u"<br>";

bool mayBeFollowed(const QString& target) {
    const QString scheme = QUrl(target, QUrl::StrictMode).scheme();
    return scheme == u"http" || scheme == u"https" || scheme == u"mailto";
}

}  // namespace

void InlineMarkup::text(QStringView text) {
    m_plain += text;
    m_markup += text.toString().toHtmlEscaped();
}

void InlineMarkup::code(QStringView code) {
    m_markup += u"<code>";
    text(code);
    m_markup += u"</code>";
}

void InlineMarkup::lineBreak() {
    m_plain += u'\n';
    m_markup += kBreak;
}

void InlineMarkup::open(QStringView tag) {
    ++m_depth;
    m_markup += QStringLiteral("<") + tag.toString() + u'>';
}

void InlineMarkup::close(QStringView tag) {
    --m_depth;
    m_markup += QStringLiteral("</") + tag.toString() + u'>';
}

void InlineMarkup::openLink(const QString& target) {
    ++m_depth;
    m_linkIsShown = mayBeFollowed(target);
    if (m_linkIsShown)
        m_markup += QStringLiteral("<a href=\"") + target.toHtmlEscaped() + QStringLiteral("\">");
}

void InlineMarkup::closeLink() {
    --m_depth;
    if (m_linkIsShown) m_markup += u"</a>";
    m_linkIsShown = false;
}

void InlineMarkup::trim() {
    while (m_plain.endsWith(u'\n') && m_markup.endsWith(kBreak)) {
        m_plain.chop(1);
        m_markup.chop(kBreak.size());
    }
}

}  // namespace glmchat::markdown
