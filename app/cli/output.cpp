#include "app/cli/output.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

namespace glmchat::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler may only touch lock-free atomics");

extern "C" void on_interrupt(int /*signal*/) {
    if (interrupted.exchange(true)) _exit(130);  // asked twice and nobody took the first: the user means it
}

}  // namespace

int report(const Status& status) {
    fmt::print(stderr, "glmchat-cli: {}\n", status.message);
    if (!status.detail.empty()) fmt::print(stderr, "  {}\n", status.detail);
    return status.kind == StatusKind::kInvalidArgument ? kExitUsage : kExitFailed;
}

ProgressLine::ProgressLine(std::string label)
    : label_(std::move(label)), is_terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
    if (is_terminal_ && shown_percent_ >= 0) fmt::print(stderr, "\r\x1b[K");
}

void ProgressLine::show(float fraction) {
    const int percent = static_cast<int>(fraction * 100.0F);
    if (!is_terminal_ || percent == shown_percent_) return;
    shown_percent_ = percent;
    fmt::print(stderr, "\r\x1b[K{} {} %", label_, percent);
    std::fflush(stderr);
}

void write_out(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

std::string read_standard_input() {
    return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

Result<std::string> read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return failure(StatusKind::kNotFound, fmt::format("The file {} cannot be opened.", path));
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (file.bad()) return failure(StatusKind::kNotFound, fmt::format("The file {} cannot be read.", path));
    return text;
}

void install_interrupt_handler() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;  // no SA_RESTART: a Ctrl+C also ends a waiting read
    sigaction(SIGINT, &action, nullptr);
}

bool take_interrupt() {
    return interrupted.exchange(false);
}

}  // namespace glmchat::cli
