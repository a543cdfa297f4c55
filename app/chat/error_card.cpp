#include "app/chat/error_card.h"

#include <QClipboard>
#include <QGuiApplication>
#include <algorithm>
#include <utility>

namespace glmchat {

void ErrorCard::show(ErrorContent content) {
    const auto same = std::find_if(m_contents.begin(), m_contents.end(),
                                   [&](const ErrorContent& other) { return other.topic == content.topic; });
    if (same != m_contents.end()) {
        *same = std::move(content);
    } else {
        m_contents.push_back(std::move(content));
    }
    emit changed();
}

void ErrorCard::clear(const QString& topic) {
    const auto removed = std::erase_if(m_contents, [&](const ErrorContent& c) { return c.topic == topic; });
    if (removed > 0) emit changed();
}

void ErrorCard::dismiss() {
    if (m_contents.empty()) return;
    m_contents.pop_front();
    emit changed();
}

void ErrorCard::trigger() {
    const std::function<void()> action = current().action;
    dismiss();
    if (action) action();
}

void ErrorCard::copyDetails() const {
    const QStringList parts{title(), message(), detail()};
    QGuiApplication::clipboard()->setText(parts.join(u'\n').trimmed());
}

const ErrorContent& ErrorCard::current() const {
    static const ErrorContent nothing;
    return m_contents.empty() ? nothing : m_contents.front();
}

}  // namespace glmchat
