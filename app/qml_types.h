#pragma once

namespace glmchat {

/// Makes the QML module GlmChat.App known. Every program that loads our QML calls it once: without the call a
/// linker drops the registration from the static library.
void registerQmlTypes();

}  // namespace glmchat
