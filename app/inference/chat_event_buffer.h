#pragma once

#include <mutex>
#include <vector>

#include "engine/chat/chat_engine.h"

namespace glmchat {

/// Collects the events of running answers between two frames. Neighbouring texts become one, of neighbouring
/// progress only the newest is kept, so the buffer stays small however fast the engine is. Any thread.
class ChatEventBuffer {
  public:
    /// @return true when the buffer was empty: somebody should come and take.
    bool push(const ChatEvent& event);
    /// All events since the last call, in order.
    std::vector<ChatEvent> take();

  private:
    bool merge(const ChatEvent& event);

    std::mutex m_mutex;
    std::vector<ChatEvent> m_events;  // guarded by m_mutex
};

}  // namespace glmchat
