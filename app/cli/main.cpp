#include <cstdio>
#include <exception>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "app/cli/commands.h"
#include "app/cli/output.h"

namespace {

constexpr const char* kFooter =
    R"(Exit codes: 0 ok, 1 failed, 2 wrong usage. Answers and JSON go to standard output, messages to standard error.
JSON of --json:
  tokenize  {"ids":[...],"pieces":[...]}
  generate  {"ids":[...]}                               new ids only
  chat      {"text","finish_reason","seed","usage":{"prompt_tokens","reused_tokens","completion_tokens"},"timings":{"prefill_seconds","decode_seconds"}}
  info      {"name","format","config":{...},"tensors":[{"name","type","shape","file"}],"memory":{precision:{"weight_bytes"}},"kv_bytes_per_token"}
  bench     {"prefill_tokens_per_s":{"min","median","max"},"decode_tokens_per_s":{...},"bytes_per_token","read_bandwidth_gb_s",
             "decode_share","peak_rss_bytes","load_seconds",...}
  quantize  {"folder","bytes"}
A single text "-" is read from standard input, every byte of it.)";

int run(int argc, char** argv) {
    CLI::App program("glmchat-cli: ChatGLM models in the terminal", "glmchat-cli");
    program.set_version_flag("--version", GLMCHAT_VERSION);
    program.footer(kFooter);
    program.require_subcommand(1);
    int exit_code = glmchat::cli::kExitOk;
    using namespace glmchat::cli;
    for (const auto add_command :
         {add_chat_command, add_info_command, add_tokenize_commands, add_logits_command, add_generate_command,
          add_bench_command, add_quantize_command}) {
        add_command(program, exit_code);
    }
    try {
        program.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) == 0 ? kExitOk : kExitUsage;
    }
    return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        fmt::print(stderr, "glmchat-cli: stopped by an unexpected error: {}\n", error.what());
        return glmchat::cli::kExitFailed;
    }
}
