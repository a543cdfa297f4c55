#include <string>
#include <vector>

#include "tests/engine/text/text_checks.h"
#include <fmt/format.h>

#include "engine/prompt/chat_format.h"

namespace glmchat::test {
namespace {

using Ids = std::vector<std::int32_t>;
constexpr std::int32_t kPlenty = 100'000;

std::shared_ptr<const ChatFormat> golden_format() {
    return *make_chat_format(ModelFamily::kChatGlm2, golden_tokenizer());
}

ChatMessage user(std::string text) {
    return {Role::kUser, std::move(text), {}, {}};
}
ChatMessage assistant(std::string text) {
    return {Role::kAssistant, std::move(text), {}, {}};
}
ChatMessage system(std::string text) {
    return {Role::kSystem, std::move(text), {}, {}};
}

/// An answer as the engine keeps it: its prompt's ids and other ids than encoding its text again would give.
ChatMessage kept_answer(const Ids& prompt_ids, const std::string& text) {
    Ids answer_ids;
    for (const char letter : text)
        answer_ids.push_back(3 + static_cast<unsigned char>(letter));  // byte by byte
    return {Role::kAssistant, text, answer_ids, prompt_ids};
}

Ids joined(std::initializer_list<Ids> parts) {
    Ids all;
    for (const Ids& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
}

CheckResult check_text() {
    const auto format = golden_format();
    const auto text = format->text(std::vector{user("一"), assistant("二"), user("三")});
    if (!text) return failed(text.error().message);
    const std::string expected = "[Round 1]\n\n问：一\n\n答：二\n\n[Round 2]\n\n问：三\n\n答：";
    return *text == expected ? passed() : failed(*text);
}

CheckResult check_system_text_stands_before_the_first_question() {
    const auto text =
        golden_format()->text(std::vector{system("用中文回答。"), user("一"), assistant("二"), user("三")});
    if (!text) return failed(text.error().message);
    return text->find("问：用中文回答。一\n") != std::string::npos &&
                   text->find("问：三\n") != std::string::npos
               ? passed()
               : failed(*text);
}

CheckResult check_roles_out_of_order() {
    const auto format = golden_format();
    const std::vector<std::vector<ChatMessage>> wrong = {{},
                                                         {system("s")},
                                                         {assistant("a")},
                                                         {user("a"), user("b")},
                                                         {user("a"), assistant("b")},
                                                         {user("a"), system("s"), user("b")}};
    for (const auto& messages : wrong) {
        const auto prompt = format->build(messages, kPlenty);
        if (prompt || prompt.error().kind != StatusKind::kInvalidArgument) return failed("was accepted");
    }
    return passed();
}

CheckResult check_kept_ids_are_continued() {
    const auto format = golden_format();
    std::vector<ChatMessage> messages = {user("hello")};
    Ids expected = *format->encode(messages);
    for (std::int32_t round = 2; round <= 5; ++round) {
        const ChatMessage answer = kept_answer(expected, fmt::format("answer {}", round));
        const std::string question = fmt::format("question {}", round);
        messages.push_back(answer);
        messages.push_back(user(question));
        expected = joined({expected, answer.answer_ids, format->encode_next_round(round, question)});
        const auto prompt = format->build(messages, kPlenty);
        if (!prompt) return failed(prompt.error().message);
        if (prompt->ids != expected)
            return failed(fmt::format("round {} does not continue the kept ids", round));
    }
    return passed();
}

/// The answer before has no kept ids (it came from a file): what matters is what the kept prompt says.
CheckResult check_kept_ids_after_others() {
    const auto format = golden_format();
    std::vector<ChatMessage> messages = {user("typed \u2581 and  spaces "), assistant("from a file"),
                                         user("hello")};
    const ChatMessage answer = kept_answer(*format->encode(messages), "fine");
    messages.push_back(answer);
    messages.push_back(user("next"));
    const auto prompt = format->build(messages, kPlenty);
    if (!prompt) return failed(prompt.error().message);
    const Ids continued =
        joined({answer.prompt_ids, answer.answer_ids, format->encode_next_round(3, "next")});
    return prompt->ids == continued ? passed() : failed("not continued");
}

/// Kept ids that no longer belong to the conversation are not used.
CheckResult check_stale_ids_are_not_continued() {
    const auto format = golden_format();
    const std::vector<ChatMessage> first = {user("hello")};
    const ChatMessage answer = kept_answer(*format->encode(first), "fine");
    ChatMessage edited = answer;
    edited.content = "edited";
    ChatMessage without_prefix = answer;
    without_prefix.prompt_ids.erase(without_prefix.prompt_ids.begin());
    ChatMessage cut = answer;
    cut.prompt_ids.resize(1);
    const std::vector<std::vector<ChatMessage>> stale = {
        {user("another question"), answer, user("next")},                       // the question was edited
        {user("hello"), edited, user("next")},                                  // the answer was edited
        {system("be brief. "), user("hello"), answer, user("next")},            // a system prompt came
        {user("hello"), assistant("fine"), user("and"), answer, user("next")},  // it stands elsewhere
        {user("hello"), without_prefix, user("next")},                          // no prompt of this family
        {user("hello"), cut, user("next")},
    };
    for (const auto& messages : stale) {
        const auto prompt = format->build(messages, kPlenty);
        if (!prompt) return failed(prompt.error().message);
        if (prompt->ids != *format->encode(messages)) return failed("stale ids were continued");
    }
    return passed();
}

CheckResult check_overflow_drops_whole_rounds() {
    const auto format = golden_format();
    std::vector<ChatMessage> messages = {system("be brief. ")};
    for (int round = 0; round < 30; ++round) {
        messages.push_back(user(fmt::format("question number {}", round)));
        messages.push_back(assistant(fmt::format("the answer to question number {}", round)));
    }
    messages.push_back(user("the last question"));
    const auto all = static_cast<std::int32_t>(format->encode(messages)->size());
    for (std::int32_t budget = all; budget > 60; budget -= 13) {
        const auto prompt = format->build(messages, budget);
        if (!prompt) return failed(prompt.error().message);
        std::vector<ChatMessage> rest = {messages.front()};
        rest.insert(rest.end(), messages.begin() + 1 + 2 * prompt->num_dropped_rounds, messages.end());
        if (prompt->ids != *format->encode(rest)) return failed("not the prompt of the remaining rounds");
        if (static_cast<std::int32_t>(prompt->ids.size()) > budget) return failed("does not fit");
        if (prompt->num_dropped_rounds == 0) continue;
        rest.insert(rest.begin() + 1, messages.begin() + 2 * prompt->num_dropped_rounds - 1,
                    messages.begin() + 2 * prompt->num_dropped_rounds + 1);
        // A quarter of the room becomes free, but no more rounds leave than that takes.
        if (static_cast<std::int32_t>(format->encode(rest)->size()) <= budget - budget / 4)
            return failed("dropped a round too many");
    }
    return passed();
}

/// After rounds were dropped, the next round still continues the ids kept since then.
CheckResult check_kept_ids_after_a_drop() {
    const auto format = golden_format();
    std::vector<ChatMessage> messages;
    for (int round = 0; round < 6; ++round) {
        messages.push_back(user(fmt::format("question number {}", round)));
        messages.push_back(assistant(fmt::format("the answer to question number {}", round)));
    }
    messages.push_back(user("now"));
    const auto whole = static_cast<std::int32_t>(format->encode(messages)->size());
    const auto prompt = format->build(messages, whole - 1);
    if (!prompt || prompt->num_dropped_rounds == 0) return failed("nothing was dropped");
    const ChatMessage answer = kept_answer(prompt->ids, "ok");
    messages.push_back(answer);
    messages.push_back(user("and then"));
    const auto next = format->build(messages, whole - 1);
    if (!next) return failed(next.error().message);
    const std::int32_t round = 7 - next->num_dropped_rounds + 1;
    const Ids continued =
        joined({prompt->ids, answer.answer_ids, format->encode_next_round(round, "and then")});
    if (next->num_dropped_rounds != prompt->num_dropped_rounds) return failed("another round was dropped");
    if (next->ids != continued) return failed("the kept ids are not continued");
    return passed();
}

CheckResult check_question_too_long() {
    const auto prompt = golden_format()->build(std::vector{user(std::string(5000, 'z'))}, 100);
    if (prompt) return failed("was accepted");
    if (prompt.error().kind != StatusKind::kContextFull) return failed(prompt.error().message);
    return passed(prompt.error().message);
}

/// A pasted book is refused by its length, without being encoded.
CheckResult check_book() {
    const std::string book(20'000'000, 'z');
    const std::vector<std::vector<ChatMessage>> conversations = {
        {user(book)}, {system(book), user("hello")}, {user("hello"), assistant("fine"), user(book)}};
    for (const auto& messages : conversations) {
        const auto prompt = golden_format()->build(messages, 8192);
        if (prompt || prompt.error().kind != StatusKind::kContextFull) return failed("was accepted");
    }
    const auto prompt =
        golden_format()->build(std::vector{user(book), assistant("long."), user("hello")}, 8192);
    if (!prompt) return failed(prompt.error().message);
    return prompt->num_dropped_rounds == 1 ? passed() : failed("the round with the book was kept");
}

CheckResult check_process_response() {
    const auto format = golden_format();
    const std::pair<const char*, const char*> cases[] = {
        {"", ""},
        {"  \n ", ""},
        {"\u3000你好\u3000", "你好"},
        {"a b", "a b"},
        {"\u0085x\u00a0", "x"},
        {"训练于[[训练时间]]。[[训练时间]]", "训练于2023年。2023年"},
        {"[[训练时间", "[[训练时间"}};
    for (const auto& [in, out] : cases) {
        if (format->process_response(in) != out) return failed(in);
    }
    return passed();
}

}  // namespace

std::vector<Check> format_checks() {
    return {{"format/text", check_text},
            {"format/system text", check_system_text_stands_before_the_first_question},
            {"format/roles out of order", check_roles_out_of_order},
            {"format/kept ids are continued", check_kept_ids_are_continued},
            {"format/kept ids after others", check_kept_ids_after_others},
            {"format/stale ids are not", check_stale_ids_are_not_continued},
            {"format/overflow drops whole rounds", check_overflow_drops_whole_rounds},
            {"format/kept ids after a drop", check_kept_ids_after_a_drop},
            {"format/question too long", check_question_too_long},
            {"format/a pasted book", check_book},
            {"format/process_response", check_process_response}};
}

}  // namespace glmchat::test
