#include <string>
#include <vector>

#include "tests/engine/generate/scheduler_check_groups.h"
#include "tests/engine/generate/scheduler_fixture.h"
#include <fmt/format.h>

#include "engine/generate/stop_strings.h"

namespace glmchat::test {
namespace {

bool continues_a_character(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u;
}

/// Ids are bytes; a character becomes final with its last byte.
class ByteDecoder final : public TextDecoder {
  public:
    std::string push(std::int32_t token_id) override {
        if (token_id > 255) return {};
        const char byte = static_cast<char>(token_id);
        if (!continues_a_character(byte)) missing_ = lead_length(static_cast<unsigned char>(byte));
        bytes_ += byte;
        if (--missing_ > 0) return {};
        return std::exchange(bytes_, {});
    }
    std::string finish() override { return std::exchange(bytes_, {}).empty() ? "" : "\xEF\xBF\xBD"; }

  private:
    static int lead_length(unsigned char byte) {
        return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
    }
    std::string bytes_;
    int missing_ = 0;
};

struct StopRow {
    const char* name;
    std::string text;
    std::vector<std::string> stop_strings;
    std::string shown;
    bool found;
};

const StopRow kRows[] = {
    {"none", "hello world", {"STOP"}, "hello world", false},
    {"in_the_middle", "hello STOP world", {"STOP"}, "hello ", true},
    {"at_the_start", "STOP world", {"STOP"}, "", true},
    {"at_the_end", "hello STOP", {"STOP"}, "hello ", true},
    {"begun_only", "hello STO", {"STOP"}, "hello STO", false},
    {"begun_twice", "hello STOSTOP!", {"STOP"}, "hello STO", true},
    {"self_overlapping", "aaab", {"aab"}, "a", true},
    {"one_character", "a\nb", {"\n"}, "a", true},
    {"several", "one two three", {"three", "two"}, "one ", true},
    {"overlapping_first_complete", "xabcd", {"abcd", "bc"}, "xa", true},
    {"overlapping_same_end", "xabc", {"bc", "abc"}, "x", true},
    {"one_in_the_other", "xabcd", {"abcd", "ab"}, "x", true},
    {"prefix_of_other_fails", "abcx", {"abcd", "zz"}, "abcx", false},
    {"chinese", "你好，世界。再见", {"世界"}, "你好，", true},
    {"shared_lead_bytes", "你佡佢", {"佢"}, "你佡", true},
    {"emoji", "a👋👍b", {"👍"}, "a👋", true},
    {"mixed", "问：你好\n\n答：我", {"\n\n答"}, "问：你好", true},
};

/// Every way to cut the text into two or three pieces of whole characters.
CheckResult any_cut_gives_the_same(const StopRow& row) {
    std::vector<std::size_t> cuts = {0};
    for (std::size_t at = 1; at <= row.text.size(); ++at) {
        if (at == row.text.size() || !continues_a_character(row.text[at])) cuts.push_back(at);
    }
    for (const std::size_t first : cuts) {
        for (const std::size_t second : cuts) {
            if (second < first) continue;
            StopStrings stop_strings(row.stop_strings);
            std::string shown = stop_strings.push(row.text.substr(0, first));
            shown += stop_strings.push(row.text.substr(first, second - first));
            shown += stop_strings.push(row.text.substr(second));
            shown += stop_strings.finish();
            if (shown != row.shown || stop_strings.found() != row.found) {
                return failed(fmt::format("cut at {} and {}: \"{}\"", first, second, shown));
            }
        }
    }
    return passed();
}

/// The text byte by byte through the scheduler: one token each.
CheckResult through_the_scheduler(const StopRow& row) {
    SchedulerFixture fixture(SchedulerFixture::small_cache(), {.vocab = 300});
    fixture.model().change_logits = [&row](std::span<float> logits, std::int32_t position) {
        const auto index = static_cast<std::size_t>(position);  // the prompt is one token
        logits[index < row.text.size() ? static_cast<unsigned char>(row.text[index]) : 299] = 1000;
    };
    GenerationRequest request = fixture.request(1, {5}, 100);
    request.stop_token_ids = {299};
    request.stop_strings = row.stop_strings;
    request.decoder = std::make_unique<ByteDecoder>();
    const Answer answer = fixture.run(std::move(request));
    if (!answer.finished) return failed("no end");
    if (answer.text() != row.shown) return failed(fmt::format("\"{}\"", answer.text()));
    const FinishReason expected = row.found ? FinishReason::kStopString : FinishReason::kStopToken;
    if (answer.finished->reason != expected) return failed("another reason");
    for (const std::string& text : answer.texts) {
        if (!text.empty() && continues_a_character(text.front())) return failed("a character was cut");
    }
    return answer.finished->new_ids.size() == answer.tokens.size() ? passed() : failed("ids are missing");
}

CheckResult text_is_held_back_no_longer_than_needed() {
    StopStrings stop_strings({"STOP", "abc"});
    const struct {
        const char* piece;
        const char* shown;
    } steps[] = {{"xS", "x"}, {"T", ""}, {"x", "STx"}, {"ab", ""}, {"S", "ab"}, {"TOQ", "STOQ"}};
    for (const auto& [piece, shown] : steps) {
        const std::string given = stop_strings.push(piece);
        if (given != shown) return failed(fmt::format("\"{}\" after \"{}\"", given, piece));
    }
    return passed();
}

struct LimitRow {
    const char* name;
    const char* text;
    std::int32_t max_new_tokens;
    const char* stop_string;
    const char* shown;
    FinishReason reason;
};
// The held-back text is not lost when the answer ends for another reason.
const LimitRow kLimits[] = {
    {"held_back", "hello STO", 9, "STOP", "hello STO", FinishReason::kMaxNewTokens},
    {"complete_with_the_last_token", "hello STOP", 10, "STOP", "hello ", FinishReason::kStopString},
    {"cut_character", "a你", 3, "STOP", "a\xEF\xBF\xBD", FinishReason::kMaxNewTokens},
    {"complete_with_the_cut_character", "a你", 3, "\xEF\xBF\xBD", "a", FinishReason::kStopString},
};

CheckResult end_by_length(const LimitRow& row) {
    SchedulerFixture fixture(SchedulerFixture::small_cache(), {.vocab = 300});
    const std::string text = row.text;
    fixture.model().change_logits = [&text](std::span<float> logits, std::int32_t position) {
        logits[static_cast<unsigned char>(text[static_cast<std::size_t>(position)])] = 1000;
    };
    GenerationRequest request = fixture.request(1, {5}, row.max_new_tokens);
    request.stop_strings = {row.stop_string};
    request.decoder = std::make_unique<ByteDecoder>();
    const Answer answer = fixture.run(std::move(request));
    if (answer.text() != row.shown) return failed(fmt::format("\"{}\"", answer.text()));
    return answer.finished->reason == row.reason ? passed() : failed("another reason");
}

CheckResult bad_stop_strings_are_refused() {
    SchedulerFixture fixture;
    for (const char* bad : {"", "\x80 half a character"}) {
        GenerationRequest request = fixture.request(1, {5}, 3);
        request.decoder = std::make_unique<ByteDecoder>();
        request.stop_strings = {"good", bad};
        if (fixture.scheduler().submit(std::move(request))) return failed("was accepted");
    }
    return passed();
}

}  // namespace

void add_stop_string_checks(std::vector<Check>& checks) {
    for (const StopRow& row : kRows) {
        checks.push_back(
            {fmt::format("stop_strings/cut_{}", row.name), [&row] { return any_cut_gives_the_same(row); }});
        checks.push_back(
            {fmt::format("stop_strings/bytes_{}", row.name), [&row] { return through_the_scheduler(row); }});
    }
    for (const LimitRow& row : kLimits) {
        checks.push_back(
            {fmt::format("stop_strings/limit_{}", row.name), [&row] { return end_by_length(row); }});
    }
    checks.push_back({"stop_strings/hold_back", text_is_held_back_no_longer_than_needed});
    checks.push_back({"stop_strings/refused", bad_stop_strings_are_refused});
}

}  // namespace glmchat::test
