#!/usr/bin/env bash
# Installs what is missing, builds glmchat and opens its window. Without a display: the terminal chat.
# Arguments go to the program, for example  ./run.sh --model ~/models/chatglm2-6b
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
here=$PWD
. installer/dependencies.sh

install_packages "${GLMCHAT_BUILD_PACKAGES[@]}" "${GLMCHAT_WINDOW_PACKAGES[@]}"
say "building (a few minutes the first time) …"
build_preset release -DBUILD_TESTING=OFF

cd "$OLDPWD"  # paths on the command line mean the caller's folder
if [ -n "${DISPLAY:-}" ] || [ -n "${WAYLAND_DISPLAY:-}" ] || [ -n "${QT_QPA_PLATFORM:-}" ]; then
    exec "$here/build/release/app/glmchat" "$@"
fi
say "there is no display (DISPLAY and WAYLAND_DISPLAY are empty), so the chat opens in this terminal."
exec "$here/build/release/app/cli/glmchat-cli" chat "$@"
