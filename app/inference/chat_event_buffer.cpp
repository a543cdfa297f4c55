#include "app/inference/chat_event_buffer.h"

#include <utility>

namespace glmchat {

bool ChatEventBuffer::push(const ChatEvent& event) {
    const std::lock_guard lock(m_mutex);
    const bool wasEmpty = m_events.empty();
    if (wasEmpty || !merge(event)) m_events.push_back(event);
    return wasEmpty;
}

std::vector<ChatEvent> ChatEventBuffer::take() {
    const std::lock_guard lock(m_mutex);
    return std::exchange(m_events, {});
}

bool ChatEventBuffer::merge(const ChatEvent& event) {
    ChatEvent& last = m_events.back();
    if (last.generation_id != event.generation_id) return false;
    if (auto* text = std::get_if<ChatText>(&last.what)) {
        const auto* more = std::get_if<ChatText>(&event.what);
        if (!more) return false;
        text->text += more->text;
        text->num_new_tokens = more->num_new_tokens;
        return true;
    }
    auto* progress = std::get_if<PrefillProgress>(&last.what);
    const auto* newer = std::get_if<PrefillProgress>(&event.what);
    if (!progress || !newer) return false;
    *progress = *newer;
    return true;
}

}  // namespace glmchat
