#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/commands.h"
#include "app/cli/history.h"
#include "app/cli/model_options.h"
#include "app/cli/output.h"
#include "engine/loader/model_config.h"
#include "engine/prompt/chat_format.h"
#include "engine/tokenizer/tokenizer.h"

namespace glmchat::cli {
namespace {

struct TokenizeOptions {
    ModelOptions model;
    bool chat = false;
    std::string history_file;
    bool json = false;
    std::string text;
};

Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const ModelOptions& options) {
    auto folder = resolve_model_folder(options);
    if (!folder) return tl::unexpected(folder.error());
    return Tokenizer::open_folder(*folder);
}

/// Ids of the whole prompt that asks `text` after the history.
Result<std::vector<std::int32_t>> encode_chat(const TokenizeOptions& options, const std::string& text,
                                              std::shared_ptr<const Tokenizer> tokenizer) {
    auto folder = resolve_model_folder(options.model);
    if (!folder) return tl::unexpected(folder.error());
    auto config = read_model_config(*folder);
    if (!config) return tl::unexpected(config.error());
    auto format = make_chat_format(config->family, std::move(tokenizer));
    if (!format) return tl::unexpected(format.error());
    auto messages = read_history(options.history_file);
    if (!messages) return tl::unexpected(messages.error());
    messages->push_back({Role::kUser, text, {}, {}});
    return (*format)->encode(*messages);
}

int tokenize(const TokenizeOptions& options) {
    const std::string text = options.text == "-" ? read_standard_input() : options.text;
    auto tokenizer = open_tokenizer(options.model);
    if (!tokenizer) return report(tokenizer.error());
    Result<std::vector<std::int32_t>> ids =
        options.chat ? encode_chat(options, text, *tokenizer) : (*tokenizer)->encode(text);
    if (!ids) return report(ids.error());

    std::vector<std::string> pieces;
    pieces.reserve(ids->size());
    for (const std::int32_t id : *ids) pieces.push_back((*tokenizer)->piece(id));
    if (options.json) {
        write_out(nlohmann::json{{"ids", *ids}, {"pieces", pieces}}.dump() + "\n");
        return kExitOk;
    }
    for (std::size_t i = 0; i < ids->size(); ++i) write_out(fmt::format("{}\t{}\n", (*ids)[i], pieces[i]));
    return kExitOk;
}

int detokenize(const ModelOptions& options, const std::string& ids_text) {
    auto ids = parse_ids(ids_text == "-" ? read_standard_input() : ids_text);
    if (!ids) return report(ids.error());
    auto tokenizer = open_tokenizer(options);
    if (!tokenizer) return report(tokenizer.error());
    write_out((*tokenizer)->decode_bytes(*ids));
    return kExitOk;
}

}  // namespace

void add_tokenize_commands(CLI::App& program, int& exit_code) {
    auto options = std::make_shared<TokenizeOptions>();
    CLI::App* command =
        program.add_subcommand("tokenize", "Text to token ids (needs config.json and the tokenizer file)");
    add_model_option(*command, options->model);
    command->add_flag("--chat", options->chat,
                      "The whole chat prompt, special tokens included, instead of the bare text");
    command->add_option("--history", options->history_file,
                        "JSON list of {\"role\",\"content\"} before the text (with --chat)");
    command->add_flag("--json", options->json, "Print {\"ids\":[...],\"pieces\":[...]}");
    command->add_option("text", options->text, "The text, or - for standard input")->required();
    command->callback([options, &exit_code] { exit_code = tokenize(*options); });

    auto model = std::make_shared<ModelOptions>();
    auto ids = std::make_shared<std::string>();
    CLI::App* reverse = program.add_subcommand("detokenize", "Token ids to text, as raw bytes");
    add_model_option(*reverse, *model);
    reverse->add_option("ids", *ids, "1,2,3 or - for standard input")->required();
    reverse->callback([model, ids, &exit_code] { exit_code = detokenize(*model, *ids); });
}

}  // namespace glmchat::cli
