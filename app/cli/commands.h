#pragma once

#include <functional>
#include <vector>

#include <CLI/CLI.hpp>

namespace glmchat::cli {

/// Each function adds one subcommand to the program. The subcommand's action runs after parsing and stores
/// the exit code in `exit_code` (0 ok, 1 failed, 2 wrong usage).
void add_chat_command(CLI::App& program, int& exit_code);
void add_info_command(CLI::App& program, int& exit_code);
void add_tokenize_commands(CLI::App& program, int& exit_code);  ///< tokenize and detokenize
void add_logits_command(CLI::App& program, int& exit_code);
void add_generate_command(CLI::App& program, int& exit_code);
void add_bench_command(CLI::App& program, int& exit_code);
void add_quantize_command(CLI::App& program, int& exit_code);

}  // namespace glmchat::cli
