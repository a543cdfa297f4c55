#include <string>
#include <vector>

#include "tests/engine/chat/chat_checks.h"
#include "tests/support/conformance_kit.h"
#include <fmt/format.h>

#include "engine/chat/response_stream.h"
#include "engine/prompt/chat_format.h"

namespace glmchat::test {
namespace {

const std::vector<std::string> kTexts = {"",
                                         "你好",
                                         "  \n 你好，世界 \n\n ",
                                         "\u3000全角\u3000空格\u3000",
                                         "a [[训练时间]] b",
                                         "[[训练时间]]",
                                         "[[[训练时间]]]",
                                         "[[训练时间[[训练时间]]",
                                         "[[训练",
                                         " [[训练时间]] \n",
                                         "line\n\n  indented\n",
                                         "end [",
                                         "\u00a0\u0085"};

std::shared_ptr<const ChatFormat> format() {
    static const auto golden = *make_chat_format(
        ModelFamily::kChatGlm2, *Tokenizer::open_folder(source_dir() / "tests/golden/tokenizer"));
    return golden;
}

/// Splits `text` into characters, as the stream decoder delivers them.
std::vector<std::string> characters_of(const std::string& text) {
    std::vector<std::string> characters;
    for (const char byte : text) {
        const bool is_continuation = (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
        if (is_continuation)
            characters.back() += byte;
        else
            characters.emplace_back(1, byte);
    }
    return characters;
}

/// Delivered in pieces of `step` characters, the joined stream is the processed whole.
CheckResult check_joins_to_processed_text(std::size_t step) {
    for (const std::string& text : kTexts) {
        ResponseStream stream(*format());
        std::string joined;
        const auto characters = characters_of(text);
        for (std::size_t i = 0; i < characters.size(); i += step) {
            std::string piece;
            for (std::size_t j = i; j < std::min(i + step, characters.size()); ++j) piece += characters[j];
            joined += stream.push(piece);
            if (joined != stream.shown()) return failed("shown() is not what was returned");
        }
        joined += stream.finish();
        const std::string expected = format()->process_response(text);
        if (joined != expected)
            return failed(fmt::format("\"{}\" gave \"{}\" instead of \"{}\"", text, joined, expected));
    }
    return passed();
}

CheckResult check_holds_back_no_more_than_needed() {
    ResponseStream stream(*format());
    if (stream.push("你好") != "你好") return failed("plain text was held back");
    if (!stream.push(" ").empty()) return failed("white space at the end was shown");
    if (stream.push("a[") != " a") return failed("the beginning of a marker was shown");
    if (stream.push("b") != "[b") return failed("what was no marker was kept");
    return passed();
}

}  // namespace

std::vector<Check> response_stream_checks() {
    std::vector<Check> checks;
    for (const std::size_t step : {1, 2, 3, 100}) {
        checks.push_back({fmt::format("response stream/steps of {}", step),
                          [step] { return check_joins_to_processed_text(step); }});
    }
    checks.push_back(
        {"response stream/holds back no more than needed", check_holds_back_no_more_than_needed});
    return checks;
}

}  // namespace glmchat::test
