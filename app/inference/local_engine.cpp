#include "app/inference/local_engine.h"

#include <exception>
#include <new>
#include <utility>

namespace glmchat {
namespace {

/// The engine returns its errors; the standard library throws when memory ends. An exception must not leave
/// the engine thread.
template <typename Function>
auto withoutExceptions(const Function& function) -> decltype(function()) {
    try {
        return function();
    } catch (const std::bad_alloc&) {
        return failure(
            StatusKind::kOutOfMemory,
            "There is not enough memory. Close other programs, or choose a smaller precision or context.");
    } catch (const std::exception& error) {
        return failure(StatusKind::kInternal, "The engine met an unexpected error. Load the model again.",
                       error.what());
    }
}

}  // namespace

Result<ChatEngineInfo> LocalEngine::load(const ChatEngineOptions& options,
                                         const std::function<void(float)>& onProgress, std::stop_token stop) {
    unload();
    return withoutExceptions([&]() -> Result<ChatEngineInfo> {
        auto engine = ChatEngine::load(options, onProgress, stop);
        if (!engine) return tl::unexpected(engine.error());
        m_engine = std::move(*engine);
        return m_engine->info();
    });
}

void LocalEngine::unload() {
    m_engine.reset();
}

Result<void> LocalEngine::chat(ChatRequest request, std::function<void(const ChatEvent&)> onEvent) {
    if (!m_engine) return failure(StatusKind::kInvalidArgument, "No model is loaded. Choose a model first.");
    return withoutExceptions(
        [&]() -> Result<void> { return m_engine->chat(std::move(request), std::move(onEvent)); });
}

void LocalEngine::cancel(std::uint64_t generationId) {
    if (m_engine) m_engine->cancel(generationId);
}

}  // namespace glmchat
