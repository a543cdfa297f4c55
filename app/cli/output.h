#pragma once

#include <string>
#include <string_view>

#include "engine/status.h"

namespace glmchat::cli {

constexpr int kExitOk = 0;
constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

/// Prints a failure on standard error. @return the exit code that fits it
int report(const Status& status);

/// One line on standard error that is rewritten in place; silent unless standard error is a terminal.
class ProgressLine {
  public:
    explicit ProgressLine(std::string label);
    ~ProgressLine();  ///< clears the line
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void show(float fraction);  ///< 0..1

  private:
    std::string label_;
    bool is_terminal_;
    int shown_percent_ = -1;
};

/// Writes bytes to standard output at once.
void write_out(std::string_view text);

/// All of standard input, every byte.
std::string read_standard_input();

/// A file's bytes. Errors: kNotFound.
Result<std::string> read_file(const std::string& path);

/// Set by Ctrl+C once install_interrupt_handler() ran; the second Ctrl+C ends the program.
void install_interrupt_handler();
bool take_interrupt();  ///< true once per Ctrl+C

}  // namespace glmchat::cli
