# Sourced by run.sh and test.sh: installs the Debian/Ubuntu packages glmchat needs, or lists them where there is no apt.

# To build: compiler, CMake, Qt 6.4 or newer, and the libraries we use.
GLMCHAT_BUILD_PACKAGES=(
    g++ cmake ninja-build pkg-config
    qt6-base-dev qt6-declarative-dev qt6-tools-dev qt6-tools-dev-tools qt6-l10n-tools
    libgl-dev
    libsentencepiece-dev nlohmann-json3-dev libexpected-dev libfmt-dev libcli11-dev
    libcmark-gfm-dev libcmark-gfm-extensions-dev
)
# To run the window: the QML modules it imports, SQLite for conversations, and a Chinese font.
GLMCHAT_WINDOW_PACKAGES=(
    libqt6sql6-sqlite
    qml6-module-qtqml qml6-module-qtqml-models qml6-module-qtqml-workerscript
    qml6-module-qtquick qml6-module-qtquick-controls qml6-module-qtquick-dialogs qml6-module-qtquick-layouts
    qml6-module-qtquick-templates qml6-module-qtquick-window qml6-module-qtcore qml6-module-qt-labs-folderlistmodel
    fonts-noto-cjk
)
# To run the tests and benchmarks.
GLMCHAT_TEST_PACKAGES=(libbenchmark-dev qml6-module-qttest)

say() { printf '%s\n' "glmchat: $*"; }

# Prints those of the given packages that are not installed.
missing_packages() {
    local package
    for package in "$@"; do
        if ! dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed; then
            printf '%s\n' "$package"
        fi
    done
}

run_as_root() {
    if [ "$(id -u)" -eq 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        say "installing packages needs root, and there is no sudo. As root, run:  $*"
        return 1
    fi
}

# install_packages PACKAGE…: installs what is missing, says what it does, changes nothing when all is there.
install_packages() {
    if ! command -v apt-get >/dev/null; then
        say "there is no apt-get here. These Debian packages (or their equals) are needed:"
        printf '    %s\n' "$@"
        say "trying to build with what is there."
        return 0
    fi
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ "${#missing[@]}" -eq 0 ] && return 0
    say "installing ${#missing[@]} packages: ${missing[*]}"
    run_as_root env DEBIAN_FRONTEND=noninteractive apt-get update -q || return 1
    run_as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" || {
        say "the packages could not be installed; the message above says why."
        return 1
    }
}

# build_preset PRESET [cmake argument…]: configures and builds build/PRESET.
build_preset() {
    local preset=$1
    shift
    cmake --preset "$preset" "$@" && cmake --build --preset "$preset"
}
