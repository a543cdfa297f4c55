#include <fstream>
#include <string>
#include <vector>

#include "tests/engine/text/text_checks.h"
#include "tests/support/conformance_kit.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/tokenizer/tokenizer.h"
#include "engine/tokenizer/utf8.h"

namespace glmchat::test {
namespace {

using nlohmann::json;
using Ids = std::vector<std::int32_t>;

const json& golden_cases() {
    static const json cases = json::parse(std::ifstream(source_dir() / "tests/golden/tokenizer/cases.json"));
    return cases;
}

CheckResult check_encode() {
    const auto tokenizer = golden_tokenizer();
    if (tokenizer->num_pieces() != golden_cases()["num_pieces"].get<std::int32_t>())
        return failed("other vocabulary");
    for (const json& item : golden_cases()["encode"]) {
        const auto text = item["text"].get<std::string>();
        const auto ids = item["ids"].get<Ids>();
        if (tokenizer->encode(text) != ids) return failed("encode " + item["text"].dump());
        if (tokenizer->decode(ids) != item["decoded"].get<std::string>())
            return failed("decode " + item["text"].dump());
    }
    return passed(fmt::format("{} texts", golden_cases()["encode"].size()));
}

CheckResult check_decode() {
    const auto tokenizer = golden_tokenizer();
    for (const json& item : golden_cases()["decode"]) {
        const auto ids = item["ids"].get<Ids>();
        if (tokenizer->decode(ids) != item["text"].get<std::string>()) return failed(item.dump());
    }
    return passed(fmt::format("{} id lists", golden_cases()["decode"].size()));
}

/// The stream never returns half a character and its pieces join to the decoded whole.
CheckResult check_stream() {
    const auto tokenizer = golden_tokenizer();
    for (const char* part : {"encode", "decode"}) {
        for (const json& item : golden_cases()[part]) {
            const auto ids = item["ids"].get<Ids>();
            const auto decoder = tokenizer->make_stream_decoder();
            std::string joined;
            for (const std::int32_t id : ids) {
                const std::string text = decoder->push(id);
                if (to_valid_utf8(text) != text) return failed("half a character from " + item.dump());
                joined += text;
            }
            joined += decoder->finish();
            if (joined != tokenizer->decode(ids)) return failed("pieces do not join: " + item.dump());
        }
    }
    return passed();
}

/// Raw bytes round-trip for every text without a typed U+2581, which the vocabulary writes as a space.
CheckResult check_bytes_round_trip() {
    const auto tokenizer = golden_tokenizer();
    for (const json& item : golden_cases()["encode"]) {
        const auto text = item["text"].get<std::string>();
        if (text.find(kSpaceSymbol) != std::string::npos) continue;
        if (tokenizer->decode_bytes(item["ids"].get<Ids>()) != text) return failed(item["text"].dump());
    }
    return passed();
}

CheckResult check_typed_specials_stay_text() {
    const auto tokenizer = golden_tokenizer();
    const std::int32_t first_byte_piece = 3;
    for (const char* text :
         {"[gMASK]", "sop", "eop", "[MASK]", "[sMASK]", "</s>", "<s>", "<unk>", "<0x0A>", "a</s>b"}) {
        for (const std::int32_t id : tokenizer->encode(text)) {
            if (id < first_byte_piece || id >= tokenizer->num_pieces()) {
                return failed(fmt::format("\"{}\" became the special id {}", text, id));
            }
        }
    }
    return passed();
}

CheckResult check_ill_formed_input() {
    const auto tokenizer = golden_tokenizer();
    const std::string replacement(kReplacementCharacter);
    const struct {
        std::string bytes;
        std::string text;
    } cases[] = {{"a\xFF"
                  "b",
                  "a" + replacement + "b"},
                 {"\xE4\xBD", replacement + replacement},
                 {"\xC0\x80", replacement + replacement},
                 {"\xED\xA0\x80", replacement + replacement + replacement},
                 {"\xF4\x90\x80\x80", replacement + replacement + replacement + replacement}};
    for (const auto& item : cases) {
        if (tokenizer->encode(item.bytes) != tokenizer->encode(item.text)) return failed("ill-formed input");
    }
    return passed();
}

CheckResult check_long_text() {
    const auto tokenizer = golden_tokenizer();
    std::string text;
    while (text.size() < 100'000) text += "今天天气很好 the quick brown fox 👋 ";
    if (tokenizer->decode(tokenizer->encode(text)) != text) return failed("100 KB of text did not come back");
    const std::string one_character(1'000'000, 'x');
    if (tokenizer->decode(tokenizer->encode(one_character)) != one_character)
        return failed("1 MB of one character");
    return passed();
}

}  // namespace

std::shared_ptr<const Tokenizer> golden_tokenizer() {
    static const auto tokenizer = *Tokenizer::open_folder(source_dir() / "tests/golden/tokenizer");
    return tokenizer;
}

std::vector<Check> golden_text_checks() {
    return {{"golden/encode", check_encode},
            {"golden/decode", check_decode},
            {"golden/stream", check_stream},
            {"golden/bytes round trip", check_bytes_round_trip},
            {"golden/typed specials stay text", check_typed_specials_stay_text},
            {"golden/ill-formed input", check_ill_formed_input},
            {"golden/long text", check_long_text}};
}

}  // namespace glmchat::test
