#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "tests/engine/chat/chat_checks.h"
#include "tests/support/check.h"
#include <fmt/format.h>

#include "app/model_choice/model_choice.h"
#include "engine/chat/chat_engine.h"

namespace glmchat::test {
namespace {

constexpr std::int32_t kBlockSize = SchedulerOptions{}.block_size;

struct Answer {
    ChatStarted started;
    ChatFinished finished;
    std::string streamed;
};

/// Collects the events of one answer; wait() blocks until its end.
class Collector {
  public:
    void take(const ChatEvent& event) {
        const std::scoped_lock lock(mutex_);
        if (const auto* started = std::get_if<ChatStarted>(&event.what)) answer_.started = *started;
        if (const auto* text = std::get_if<ChatText>(&event.what)) {
            answer_.streamed += text->text;
            ++num_texts_;
        }
        if (const auto* finished = std::get_if<ChatFinished>(&event.what)) {
            answer_.finished = *finished;
            outcome_ = answer_;
        }
        if (const auto* failed = std::get_if<ChatFailed>(&event.what))
            outcome_ = tl::unexpected(failed->status);
        changed_.notify_all();
    }

    Result<Answer> wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return outcome_.has_value(); });
        return *outcome_;
    }

    void wait_for_text() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return num_texts_ > 0 || outcome_.has_value(); });
    }

  private:
    std::mutex mutex_;
    std::condition_variable changed_;
    Answer answer_;
    int num_texts_ = 0;
    std::optional<Result<Answer>> outcome_;
};

Result<std::unique_ptr<ChatEngine>> load_guide(std::int32_t context_size = 0) {
    ChatEngineOptions options;
    options.model_folder = guide_model_folder();
    options.device = Device::kCpu;
    options.precision = Precision::kFloat32;  // reuse on and off differ by rounding only; ids must not
    options.context_size = context_size;
    return ChatEngine::load(options);
}

ChatRequest request_for(std::uint64_t id, std::vector<ChatMessage> messages) {
    ChatRequest request;
    request.generation_id = id;
    request.messages = std::move(messages);
    request.sampling.temperature = 0;
    request.seed = 1;
    request.max_new_tokens = 40;
    return request;
}

ChatMessage user(std::string text) {
    return {Role::kUser, std::move(text), {}, {}};
}

ChatMessage assistant(const Answer& answer) {
    return {Role::kAssistant, answer.finished.full_text, answer.finished.answer_ids,
            answer.started.prompt_ids};
}

Result<Answer> ask(ChatEngine& engine, ChatRequest request) {
    Collector collector;
    auto started = engine.chat(std::move(request), [&](const ChatEvent& event) { collector.take(event); });
    if (!started) return tl::unexpected(started.error());
    return collector.wait();
}

const std::vector<std::string> kQuestions = {"你好",      "你是谁？", "Hello!",           "What can you do?",
                                             "谢谢",      "讲个笑话", "What is a token?", "什么是温度参数？",
                                             "Thank you", "再见"};

/// Runs the ten rounds. @return every round's answer
Result<std::vector<Answer>> run_rounds(bool reuse_prefix) {
    auto engine = load_guide();
    if (!engine) return tl::unexpected(engine.error());
    std::vector<ChatMessage> messages;
    std::vector<Answer> answers;
    for (const std::string& question : kQuestions) {
        messages.push_back(user(question));
        ChatRequest request = request_for(answers.size() + 1, messages);
        request.reuse_prefix = reuse_prefix;
        auto answer = ask(**engine, std::move(request));
        if (!answer) return tl::unexpected(answer.error());
        messages.push_back(assistant(*answer));
        answers.push_back(std::move(*answer));
    }
    return answers;
}

CheckResult check_ten_rounds() {
    const auto with_reuse = run_rounds(true);
    const auto without_reuse = run_rounds(false);
    if (!with_reuse) return failed(with_reuse.error().message);
    if (!without_reuse) return failed(without_reuse.error().message);
    for (std::size_t round = 0; round < kQuestions.size(); ++round) {
        const Answer& reused = (*with_reuse)[round];
        const Answer& computed = (*without_reuse)[round];
        if (reused.finished.answer_ids != computed.finished.answer_ids) {
            return failed(fmt::format("round {} gives other ids when the cache is reused", round + 1));
        }
        if (computed.finished.stats.num_reused_tokens != 0) return failed("reuse was not off");
        if (round == 0) continue;
        // The new text is what follows the ids of the round before: prompt and answer.
        const Answer& before = (*with_reuse)[round - 1];
        const auto known = before.started.prompt_ids.size() + before.finished.answer_ids.size();
        const auto num_new = static_cast<std::int32_t>(reused.started.prompt_ids.size() - known);
        const GenerationStats& stats = reused.finished.stats;
        if (stats.num_prefill_tokens > num_new + kBlockSize) {
            return failed(fmt::format("round {} computed {} prompt tokens for {} new ones", round + 1,
                                      stats.num_prefill_tokens, num_new));
        }
        if (stats.num_prefill_tokens + stats.num_reused_tokens != stats.num_prompt_tokens) {
            return failed("computed and reused tokens do not add up to the prompt");
        }
    }
    const GenerationStats& last = with_reuse->back().finished.stats;
    return passed(fmt::format("round 10: {} prompt tokens, {} computed, {} reused", last.num_prompt_tokens,
                              last.num_prefill_tokens, last.num_reused_tokens));
}

CheckResult check_streamed_text_is_the_answer() {
    auto engine = load_guide();
    if (!engine) return failed(engine.error().message);
    const auto answer = ask(**engine, request_for(1, {user("你好")}));
    if (!answer) return failed(answer.error().message);
    if (answer->finished.full_text.empty()) return failed("the guide model said nothing");
    if (answer->streamed != answer->finished.full_text) {
        return failed(fmt::format("streamed \"{}\" but finished with \"{}\"", answer->streamed,
                                  answer->finished.full_text));
    }
    return passed(answer->streamed);
}

CheckResult check_two_at_once() {
    auto engine = load_guide();
    if (!engine) return failed(engine.error().message);
    const std::vector<std::string> questions = {"你好", "Tell me about yourself."};
    std::vector<Answer> alone;
    for (const std::string& question : questions) {
        auto answer = ask(**engine, request_for(alone.size() + 1, {user(question)}));
        if (!answer) return failed(answer.error().message);
        alone.push_back(std::move(*answer));
    }
    (*engine)->scheduler().clear_cache();
    Collector collectors[2];
    for (std::size_t i = 0; i < 2; ++i) {
        auto started =
            (*engine)->chat(request_for(10 + i, {user(questions[i])}),
                            [&collectors, i](const ChatEvent& event) { collectors[i].take(event); });
        if (!started) return failed(started.error().message);
    }
    for (std::size_t i = 0; i < 2; ++i) {
        const auto answer = collectors[i].wait();
        if (!answer) return failed(answer.error().message);
        if (answer->finished.answer_ids != alone[i].finished.answer_ids) {
            return failed(fmt::format("\"{}\" is answered otherwise when another chat runs", questions[i]));
        }
    }
    return passed();
}

CheckResult check_cancel_keeps_the_text() {
    auto engine = load_guide();
    if (!engine) return failed(engine.error().message);
    Collector collector;
    ChatRequest request = request_for(1, {user("Write a poem.")});
    request.max_new_tokens = 500;
    request.sampling.repetition_penalty = 1.3F;
    auto started =
        (*engine)->chat(std::move(request), [&](const ChatEvent& event) { collector.take(event); });
    if (!started) return failed(started.error().message);
    collector.wait_for_text();
    (*engine)->cancel(1);
    const auto answer = collector.wait();
    if (!answer) return failed(answer.error().message);
    if (answer->finished.full_text != answer->streamed)
        return failed("the text differs from what was streamed");
    // A short answer may have ended before the cancel arrived; both ends are right.
    return passed(std::string(finish_reason_name(answer->finished.reason)));
}

CheckResult check_context_overflow_drops_whole_rounds() {
    constexpr std::int32_t kContext = 256;
    auto engine = load_guide(kContext);
    if (!engine) return failed(engine.error().message);
    std::vector<ChatMessage> messages;
    for (int round = 0; round < 12; ++round) {
        messages.push_back(user("请用一句话介绍一下你自己，谢谢你的帮助。"));
        messages.push_back({Role::kAssistant, "我是内置的小模型，可以陪你试用这个窗口。", {}, {}});
    }
    messages.push_back(user("你好"));
    ChatRequest request = request_for(1, messages);
    const auto answer = ask(**engine, std::move(request));
    if (!answer) return failed(answer.error().message);
    if (answer->started.num_dropped_rounds == 0) return failed("nothing was dropped from a full context");
    const auto prompt_size = static_cast<std::int32_t>(answer->started.prompt_ids.size());
    if (prompt_size + 40 > kContext) return failed("no room was kept for the answer");
    return passed(fmt::format("{} of 12 rounds dropped, prompt {} of {}", answer->started.num_dropped_rounds,
                              prompt_size, kContext));
}

CheckResult check_too_long_question() {
    auto engine = load_guide(256);
    if (!engine) return failed(engine.error().message);
    std::string question;
    for (int i = 0; i < 2000; ++i) question += "很长的问题";
    const auto answer = ask(**engine, request_for(1, {user(question)}));
    if (answer) return failed("a question longer than the context was answered");
    if (answer.error().kind != StatusKind::kContextFull) return failed(answer.error().message);
    return passed(answer.error().message);
}

CheckResult check_missing_folder() {
    ChatEngineOptions options;
    options.model_folder = "no such folder/模型　目录";
    const auto engine = ChatEngine::load(options);
    if (engine) return failed("a missing folder was loaded");
    if (engine.error().kind != StatusKind::kNotFound) return failed(engine.error().message);
    return passed(engine.error().message);
}

CheckResult check_cuda_is_refused_with_a_reason() {
    ChatEngineOptions options;
    options.model_folder = guide_model_folder();
    options.device = Device::kCuda;
    const auto engine = ChatEngine::load(options);
    if (engine) return passed("there is a CUDA device");
    if (engine.error().kind != StatusKind::kUnsupported) return failed(engine.error().message);
    return passed(engine.error().message);
}

CheckResult check_auto_device_says_why_cpu() {
    ChatEngineOptions options;
    options.model_folder = guide_model_folder();
    const auto engine = ChatEngine::load(options);
    if (!engine) return failed(engine.error().message);
    const ChatEngineInfo& info = (*engine)->info();
    const bool is_cpu = (*engine)->scheduler().model().backend().name() == "cpu";
    if (is_cpu && info.device_note.empty()) return failed("runs on the CPU and does not say why");
    return passed(info.device_name + "; " + info.device_note);
}

}  // namespace

std::vector<Check> chat_engine_checks() {
    return {{"chat/ten rounds, reuse on and off", check_ten_rounds},
            {"chat/streamed text is the answer", check_streamed_text_is_the_answer},
            {"chat/two at once", check_two_at_once},
            {"chat/cancel keeps the text", check_cancel_keeps_the_text},
            {"chat/full context drops whole rounds", check_context_overflow_drops_whole_rounds},
            {"chat/question longer than the context", check_too_long_question},
            {"chat/missing folder", check_missing_folder},
            {"chat/cuda without a card", check_cuda_is_refused_with_a_reason},
            {"chat/auto says why it is the CPU", check_auto_device_says_why_cpu}};
}

std::vector<Check> all_checks() {
    std::vector<Check> checks = chat_engine_checks();
    for (Check& check : response_stream_checks()) checks.push_back(std::move(check));
    return checks;
}

}  // namespace glmchat::test
