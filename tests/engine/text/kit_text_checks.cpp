#include <fstream>
#include <string>
#include <vector>

#include "tests/engine/text/text_checks.h"
#include "tests/support/conformance_kit.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/prompt/chat_format.h"
#include "engine/tokenizer/tokenizer.h"

namespace glmchat::test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

struct Kit {
    std::filesystem::path folder;  ///< tokenizers/chatglm2-6b
    std::shared_ptr<const Tokenizer> tokenizer;
    std::shared_ptr<const ChatFormat> format;

    json read(const char* name) const { return json::parse(std::ifstream(folder / name)); }
};

/// Runs `body` on the kit, or skips.
template <typename Body>
CheckResult with_kit(Body body) {
    const auto root = conformance_kit();
    if (!root) return skipped(kKitMissing);
    Kit kit;
    kit.folder = *root / "tokenizers" / "chatglm2-6b";
    auto tokenizer = Tokenizer::open_folder(kit.folder);
    if (!tokenizer) return failed(tokenizer.error().message);
    kit.tokenizer = *tokenizer;
    kit.format = *make_chat_format(ModelFamily::kChatGlm2, kit.tokenizer);
    return body(kit);
}

/// Counts the cases for which `is_right` holds; the first wrong one is described by its index.
template <typename IsRight>
CheckResult all_right(const char* what, const json& cases, IsRight is_right) {
    std::size_t num_right = 0;
    std::string first_wrong;
    for (std::size_t i = 0; i < cases.size(); ++i) {
        if (is_right(cases[i]))
            ++num_right;
        else if (first_wrong.empty())
            first_wrong = fmt::format(", first wrong: case {} {}", i, cases[i].dump().substr(0, 300));
    }
    const std::string summary = fmt::format("{}: {}/{} exact", what, num_right, cases.size());
    if (cases.empty() || num_right != cases.size()) return failed(summary + first_wrong);
    return passed(summary);
}

CheckResult check_encode() {
    return with_kit([](const Kit& kit) {
        return all_right("tokenizer encode", kit.read("encode.json")["cases"], [&](const json& item) {
            const auto ids = item["ids"].get<Ids>();
            return kit.tokenizer->encode(item["text"].get<std::string>()) == ids &&
                   kit.tokenizer->decode(ids) == item["decoded"].get<std::string>();
        });
    });
}

CheckResult check_decode() {
    return with_kit([](const Kit& kit) {
        return all_right("tokenizer decode", kit.read("decode.json")["cases"], [&](const json& item) {
            return kit.tokenizer->decode(item["ids"].get<Ids>()) == item["text"].get<std::string>();
        });
    });
}

/// At every step that the reference shows, we have shown the same, unless its text holds a U+FFFD that we
/// still hold back; and all pieces joined are the decoded whole.
bool streams_right(const Kit& kit, const json& item) {
    const auto ids = item["ids"].get<Ids>();
    const auto decoder = kit.tokenizer->make_stream_decoder();
    std::string shown;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        shown += decoder->push(ids[i]);
        const json& step = item["steps"][i];
        if (!step["yields"].get<bool>()) continue;
        if (kit.format->process_response(shown) != step["shown"].get<std::string>()) return false;
    }
    shown += decoder->finish();
    return shown == kit.tokenizer->decode(ids);
}

CheckResult check_stream() {
    return with_kit([](const Kit& kit) {
        return all_right("tokenizer stream", kit.read("stream.json")["cases"],
                         [&](const json& item) { return streams_right(kit, item); });
    });
}

std::vector<ChatMessage> messages_of(const json& item) {
    std::vector<ChatMessage> messages;
    for (const json& round : item["history"]) {
        messages.push_back({Role::kUser, round[0].get<std::string>(), {}, {}});
        messages.push_back({Role::kAssistant, round[1].get<std::string>(), {}, {}});
    }
    messages.push_back({Role::kUser, item["query"].get<std::string>(), {}, {}});
    return messages;
}

CheckResult check_prompts() {
    return with_kit([](const Kit& kit) {
        return all_right("prompts", kit.read("prompts.json")["cases"], [&](const json& item) {
            const auto messages = messages_of(item);
            const auto num_rounds = static_cast<std::int32_t>(item["history"].size()) + 1;
            const bool whole = kit.format->text(messages) == item["prompt"].get<std::string>() &&
                               kit.format->encode(messages) == item["ids"].get<Ids>();
            if (num_rounds == 1) return whole;
            return whole && kit.format->encode_next_round(num_rounds, messages.back().content) ==
                                item["stream_ids"].get<Ids>();
        });
    });
}

CheckResult check_process_response() {
    return with_kit([](const Kit& kit) {
        const auto file = kit.folder / ".." / ".." / "prompts" / "process_response.json";
        return all_right("process_response", json::parse(std::ifstream(file))["chatglm2"],
                         [&](const json& item) {
                             return kit.format->process_response(item["in"].get<std::string>()) ==
                                    item["out"].get<std::string>();
                         });
    });
}

}  // namespace

std::vector<Check> kit_text_checks() {
    return {{"kit/encode", check_encode},
            {"kit/decode", check_decode},
            {"kit/stream", check_stream},
            {"kit/prompts", check_prompts},
            {"kit/process_response", check_process_response}};
}

}  // namespace glmchat::test
