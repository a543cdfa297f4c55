#include "engine/prompt/chatglm2_format.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "engine/tokenizer/utf8.h"

namespace glmchat {
namespace {

constexpr std::array<TextReplacement, 1> kReplacements = {{{"[[训练时间]]", "2023年"}}};
constexpr std::int32_t kDummyPrefixIds = 1;  // the id of "▁" that encode() puts in front of every segment

/// A conversation taken apart: the system text, whole rounds, and the question to be answered.
struct Rounds {
    std::string system;
    std::span<const ChatMessage> messages;  ///< user, assistant, …, user; without the system message

    std::int32_t num_rounds() const { return static_cast<std::int32_t>(messages.size() / 2) + 1; }
    /// Rounds count from 1.
    const std::string& question_of(std::int32_t number) const {
        return messages[static_cast<std::size_t>(number - 1) * 2].content;
    }
    const ChatMessage& answer_of(std::int32_t number) const {
        return messages[static_cast<std::size_t>(number) * 2 - 1];
    }
    Rounds without_oldest(std::int32_t num_dropped) const {
        return {system, messages.subspan(static_cast<std::size_t>(num_dropped) * 2)};
    }
    /// The conversation as it was when round `number` (from 1) was asked.
    Rounds first_rounds(std::int32_t number) const {
        return {system, messages.first(static_cast<std::size_t>(number) * 2 - 1)};
    }
};

Result<Rounds> split_rounds(std::span<const ChatMessage> messages) {
    Rounds rounds;
    if (!messages.empty() && messages.front().role == Role::kSystem) {
        rounds.system = messages.front().content;
        messages = messages.subspan(1);
    }
    if (messages.empty()) return failure(StatusKind::kInvalidArgument, "There is no question to answer.");
    for (std::size_t i = 0; i < messages.size(); ++i) {
        const Role expected = i % 2 == 0 ? Role::kUser : Role::kAssistant;
        if (messages[i].role != expected) {
            return failure(
                StatusKind::kInvalidArgument,
                fmt::format("Message {} of the conversation should be the {}'s. Questions and answers must "
                            "alternate, after at most one system message.",
                            i + 1, expected == Role::kUser ? "user" : "assistant"));
        }
    }
    if (messages.size() % 2 == 0) {
        return failure(StatusKind::kInvalidArgument, "The conversation must end with a question.");
    }
    rounds.messages = messages;
    return rounds;
}

std::string round_text(std::int32_t number, std::string_view question) {
    return fmt::format("[Round {}]\n\n问：{}\n\n答：", number, question);
}

/// N of the last "[Round N]" in a prompt; 0 without one.
std::int32_t last_round_number(std::string_view prompt) {
    constexpr std::string_view kOpening = "[Round ";
    const std::size_t at = prompt.rfind(kOpening);
    std::int32_t number = 0;
    if (at == std::string_view::npos) return 0;
    const std::string_view digits = prompt.substr(at + kOpening.size());
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return number;
}

std::string rounds_text(const Rounds& rounds) {
    std::string text;
    for (std::int32_t number = 1; number <= rounds.num_rounds(); ++number) {
        const std::string& question = rounds.question_of(number);
        text += round_text(number, number == 1 ? rounds.system + question : question);
        if (number < rounds.num_rounds()) text += rounds.answer_of(number).content + "\n\n";
    }
    return text;
}

class ChatGlm2Format final : public ChatFormat {
  public:
    explicit ChatGlm2Format(std::shared_ptr<const Tokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {}

    Result<std::string> text(std::span<const ChatMessage> messages) const override {
        return split_rounds(messages).map(rounds_text);
    }

    Result<std::vector<std::int32_t>> encode(std::span<const ChatMessage> messages) const override {
        return split_rounds(messages).map([this](const Rounds& rounds) { return encode_whole(rounds); });
    }

    std::vector<std::int32_t> encode_next_round(std::int32_t round_number,
                                                const std::string& question) const override {
        std::vector<std::int32_t> ids = tokenizer_->encode("\n\n" + round_text(round_number, question));
        ids.erase(ids.begin(), ids.begin() + kDummyPrefixIds);
        return ids;
    }

    Result<ChatPrompt> build(std::span<const ChatMessage> messages,
                             std::int32_t max_prompt_tokens) const override {
        auto rounds = split_rounds(messages);
        if (!rounds) return tl::unexpected(rounds.error());
        if (auto whole = whole_prompt(*rounds, max_prompt_tokens)) return std::move(*whole);
        if (auto window = kept_window(*rounds, max_prompt_tokens)) return std::move(*window);
        return shortened_prompt(*rounds, max_prompt_tokens);
    }

    std::string process_response(std::string_view text) const override {
        return process_response_text(text, kReplacements);
    }
    std::span<const TextReplacement> response_replacements() const override { return kReplacements; }
    std::vector<std::int32_t> stop_token_ids() const override { return {tokenizer_->special_tokens().eos}; }

  private:
    /// All rounds, when they fit.
    std::optional<ChatPrompt> whole_prompt(const Rounds& rounds, std::int32_t max_prompt_tokens) const {
        if (first_fitting_drop(rounds, max_prompt_tokens) > 0) return std::nullopt;
        if (min_tokens_of(rounds_text(rounds)) > max_prompt_tokens) return std::nullopt;
        std::vector<std::int32_t> ids = ids_of(rounds);
        if (static_cast<std::int64_t>(ids.size()) > max_prompt_tokens) return std::nullopt;
        return ChatPrompt{std::move(ids), 0};
    }

    /// The rounds the last answer was given with, as long as the new one fits behind them: what left the
    /// context before stays out, so that the kept KV cache goes on being of use.
    std::optional<ChatPrompt> kept_window(const Rounds& rounds, std::int32_t max_prompt_tokens) const {
        const std::int32_t num_answered = rounds.num_rounds() - 1;
        if (num_answered == 0) return std::nullopt;
        const std::string prompt = tokenizer_->decode(rounds.answer_of(num_answered).prompt_ids);
        // Only a hint, since a question may hold such text too: the ids decide.
        const std::int32_t num_dropped = num_answered - last_round_number(prompt);
        if (num_dropped < 1 || num_dropped >= num_answered) return std::nullopt;
        auto ids = continued_ids(rounds.without_oldest(num_dropped));
        if (!ids || static_cast<std::int64_t>(ids->size()) > max_prompt_tokens) return std::nullopt;
        return ChatPrompt{std::move(*ids), num_dropped};
    }

    /// Leaves out whole oldest rounds. A quarter of the room becomes free at once, or every further question
    /// would push out one more round and have the whole prompt read again.
    Result<ChatPrompt> shortened_prompt(const Rounds& rounds, std::int32_t max_prompt_tokens) const {
        const std::int32_t target = max_prompt_tokens - max_prompt_tokens / 4;
        const std::int32_t last_drop = rounds.num_rounds() - 1;
        for (std::int32_t num_dropped = first_fitting_drop(rounds, target); num_dropped < last_drop;
             ++num_dropped) {
            std::vector<std::int32_t> ids = ids_of(rounds.without_oldest(num_dropped));
            if (static_cast<std::int64_t>(ids.size()) <= target)
                return ChatPrompt{std::move(ids), num_dropped};
        }
        const Rounds question = rounds.without_oldest(last_drop);
        const std::int64_t min_tokens = min_tokens_of(rounds_text(question));
        if (min_tokens > max_prompt_tokens) {
            return question_too_long(rounds, fmt::format("more than {}", min_tokens), max_prompt_tokens);
        }
        std::vector<std::int32_t> ids = encode_whole(question);
        if (static_cast<std::int64_t>(ids.size()) <= max_prompt_tokens)
            return ChatPrompt{std::move(ids), last_drop};
        return question_too_long(rounds, std::to_string(ids.size()), max_prompt_tokens);
    }

    static tl::unexpected<Status> question_too_long(const Rounds& rounds, const std::string& num_tokens,
                                                    std::int32_t max_prompt_tokens) {
        return failure(
            StatusKind::kContextFull,
            fmt::format("{} takes {} tokens, but only {} fit beside the answer. Shorten it, or load "
                        "the model with a larger context.",
                        rounds.system.empty() ? "The question alone" : "The question with the system prompt",
                        num_tokens, max_prompt_tokens));
    }

    /// Ids that `text` takes at least, known without encoding it: nobody waits for a pasted book to be
    /// encoded only to read that it is too long.
    std::int64_t min_tokens_of(std::string_view text) const {
        return static_cast<std::int64_t>(text.size() / tokenizer_->max_piece_bytes());
    }

    /// Ids that `text` takes on its own, or any number above `limit`.
    std::int64_t count_tokens(const std::string& text, std::int32_t limit) const {
        const std::int64_t min_tokens = min_tokens_of(text);
        return min_tokens > limit ? min_tokens : static_cast<std::int64_t>(tokenizer_->encode(text).size());
    }

    std::int64_t count_round_tokens(const Rounds& rounds, std::int32_t number, std::int32_t limit) const {
        const std::int64_t num_tokens = count_tokens(round_text(number, rounds.question_of(number)), limit);
        if (number == rounds.num_rounds()) return num_tokens;
        const ChatMessage& answer = rounds.answer_of(number);
        const std::int64_t num_answer_tokens = count_tokens(answer.content, limit);
        if (answer.answer_ids.empty()) return num_tokens + num_answer_tokens;
        // The model may have said the same in fewer ids.
        return num_tokens + std::min(num_answer_tokens, static_cast<std::int64_t>(answer.answer_ids.size()));
    }

    std::vector<std::int32_t> encode_whole(const Rounds& rounds) const {
        const std::array prefix = prompt_prefix();
        std::vector<std::int32_t> ids(prefix.begin(), prefix.end());
        append(ids, tokenizer_->encode(rounds_text(rounds)));
        return ids;
    }

    std::array<std::int32_t, 2> prompt_prefix() const {
        const SpecialTokens& special = tokenizer_->special_tokens();
        return {special.gmask, special.sop};
    }

    /// Continues from the latest answer whose kept ids still belong to the conversation in front of it; the
    /// rounds since then are appended one by one. None without such an answer.
    std::optional<std::vector<std::int32_t>> continued_ids(const Rounds& rounds) const {
        std::optional<std::vector<std::int32_t>> continued;  // prompt of round `number`, made from kept ids
        for (std::int32_t number = 1; number < rounds.num_rounds(); ++number) {
            const ChatMessage& answer = rounds.answer_of(number);
            if (!belongs_to(answer, rounds.first_rounds(number), continued)) {
                continued.reset();
                continue;
            }
            continued = answer.prompt_ids;
            append(*continued, answer.answer_ids);
            append(*continued, encode_next_round(number + 1, rounds.question_of(number + 1)));
        }
        return continued;
    }

    std::vector<std::int32_t> ids_of(const Rounds& rounds) const {
        auto continued = continued_ids(rounds);
        return continued ? std::move(*continued) : encode_whole(rounds);
    }

    /// Whether the kept ids of `answer` are those of this conversation: its prompt continues the kept one or
    /// says what was asked, and its ids still say what the message says.
    bool belongs_to(const ChatMessage& answer, const Rounds& asked,
                    const std::optional<std::vector<std::int32_t>>& continued) const {
        if (answer.prompt_ids.empty() || answer.answer_ids.empty()) return false;
        if (process_response(tokenizer_->decode(answer.answer_ids)) != answer.content) return false;
        return (continued && answer.prompt_ids == *continued) || says(answer.prompt_ids, asked);
    }

    /// By text, not by encoding it again: in a full context most kept ids no longer match, and that must not
    /// cost an encoding each.
    bool says(const std::vector<std::int32_t>& prompt_ids, const Rounds& asked) const {
        const std::array prefix = prompt_prefix();
        if (prompt_ids.size() < prefix.size() ||
            !std::equal(prefix.begin(), prefix.end(), prompt_ids.begin()))
            return false;
        std::string text = rounds_text(asked);
        replace_text(text, {kSpaceSymbol, " "});  // both are the same ids
        return tokenizer_->decode(prompt_ids) == text;
    }

    static void append(std::vector<std::int32_t>& ids, const std::vector<std::int32_t>& more) {
        ids.insert(ids.end(), more.begin(), more.end());
    }

    /// How many of the oldest rounds certainly must leave, from the rounds' own lengths, so that a long
    /// history is not encoded once for every round it loses.
    std::int32_t first_fitting_drop(const Rounds& rounds, std::int32_t max_prompt_tokens) const {
        // Encoding two rounds as one text joins pieces at their border only: a few ids a round at the most.
        constexpr std::int64_t kBorderTokens = 8;
        if (static_cast<std::int64_t>(rounds_text(rounds).size()) < max_prompt_tokens)
            return 0;  // an id is at least a byte
        std::int64_t num_tokens = 0;
        std::int32_t number = rounds.num_rounds();
        for (; number >= 1; --number) {
            num_tokens += count_round_tokens(rounds, number, max_prompt_tokens) - kBorderTokens;
            if (num_tokens > max_prompt_tokens) break;
        }
        return std::min(number, rounds.num_rounds() - 1);
    }

    const std::shared_ptr<const Tokenizer> tokenizer_;
};

}  // namespace

std::shared_ptr<const ChatFormat> make_chatglm2_format(std::shared_ptr<const Tokenizer> tokenizer) {
    return std::make_shared<ChatGlm2Format>(std::move(tokenizer));
}

}  // namespace glmchat
