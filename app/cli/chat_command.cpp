#include <chrono>
#include <condition_variable>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/cli/commands.h"
#include "app/cli/history.h"
#include "app/cli/model_options.h"
#include "app/cli/output.h"
#include "engine/chat/chat_engine.h"

namespace glmchat::cli {
namespace {

struct ChatOptions {
    ModelOptions model;
    SamplingOptions sampling;
    std::string system;
    std::string history_file;
    bool json = false;
    std::string prompt;
};

struct Answer {
    ChatStarted started;
    ChatFinished finished;
};

constexpr std::string_view kHelp =
    "Type a question and press Enter. Ctrl+C stops an answer; /new starts a new conversation, /regenerate "
    "answers the last "
    "question again, /quit (or Ctrl+D) ends.\n";

/// Carries one answer from the scheduler's thread to the terminal's.
class AnswerWaiter {
  public:
    explicit AnswerWaiter(bool print_text) : print_text_(print_text) {}

    /// Scheduler's thread.
    void on_event(const ChatEvent& event) {
        std::visit([this](const auto& what) { take(what); }, event.what);
    }

    /// Waits for the end; Ctrl+C cancels the answer and waits on.
    Result<Answer> wait(ChatEngine& engine, std::uint64_t generation_id) {
        using namespace std::chrono_literals;
        std::unique_lock lock(mutex_);
        while (!outcome_) {
            changed_.wait_for(lock, 50ms);
            if (take_interrupt()) {
                lock.unlock();
                engine.cancel(generation_id);
                lock.lock();
            }
        }
        return *outcome_;
    }

  private:
    void take(const ChatStarted& started) { answer_.started = started; }
    void take(const PrefillProgress& prefill) {
        if (print_text_ && prefill.num_total > 0) {
            progress_.emplace_or_show(static_cast<float>(prefill.num_done) /
                                      static_cast<float>(prefill.num_total));
        }
    }
    void take(const ChatText& text) {
        if (!print_text_) return;
        progress_.clear();
        write_out(text.text);
    }
    void take(const ChatFinished& finished) {
        progress_.clear();
        answer_.finished = finished;
        end(answer_);
    }
    void take(const ChatFailed& failed) {
        progress_.clear();
        end(tl::unexpected(failed.status));
    }
    void end(Result<Answer> outcome) {
        const std::scoped_lock lock(mutex_);
        outcome_ = std::move(outcome);
        changed_.notify_all();
    }

    /// The prefill line, there only while the prompt is read.
    class PrefillLine {
      public:
        void emplace_or_show(float fraction) {
            if (!line_) line_.emplace("Reading");
            line_->show(fraction);
        }
        void clear() { line_.reset(); }

      private:
        std::optional<ProgressLine> line_;
    };

    const bool print_text_;
    PrefillLine progress_;  // scheduler's thread only
    Answer answer_;         // scheduler's thread only until the end
    std::mutex mutex_;
    std::condition_variable changed_;
    std::optional<Result<Answer>> outcome_;  // guarded by mutex_
};

class ChatLoop {
  public:
    ChatLoop(const ChatOptions& options, ChatEngine& engine, std::vector<ChatMessage> history)
        : options_(options),
          engine_(engine),
          messages_(std::move(history)),
          num_initial_messages_(messages_.size()) {}

    /// Asks one question and keeps the answer in the history.
    Result<Answer> ask(const std::string& question, bool print_text) {
        messages_.push_back({Role::kUser, question, {}, {}});
        auto answer = answer_last_question(print_text);
        if (!answer) messages_.pop_back();
        return answer;
    }

    int run_interactive() {
        const bool is_terminal = isatty(STDIN_FILENO) == 1;
        if (is_terminal) {
            fmt::print(stderr, "{} · {} · {}\n{}", engine_.info().model_name, engine_.info().device_name,
                       precision_name(engine_.info().precision), kHelp);
            if (!engine_.info().device_note.empty()) fmt::print(stderr, "{}\n", engine_.info().device_note);
        }
        for (std::string line; prompt_for_line(is_terminal, line);) {
            if (line == "/quit" || line == "/exit") break;
            run_line(line);
        }
        return kExitOk;
    }

  private:
    void run_line(const std::string& line) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) return;
        if (line == "/help") {
            fmt::print(stderr, "{}", kHelp);
        } else if (line == "/new") {
            messages_.resize(num_initial_messages_);
            fmt::print(stderr, "New conversation.\n");
        } else if (line == "/regenerate") {
            regenerate();
        } else {
            finish_line(ask(line, /*print_text=*/true));
        }
    }

    void regenerate() {
        if (messages_.size() < num_initial_messages_ + 2) {
            fmt::print(stderr, "There is no answer to make again.\n");
            return;
        }
        ChatMessage old_answer = std::move(messages_.back());
        messages_.pop_back();
        const auto answer = answer_last_question(/*print_text=*/true);
        if (!answer) messages_.push_back(std::move(old_answer));
        finish_line(answer);
    }

    static void finish_line(const Result<Answer>& answer) {
        write_out("\n");
        if (!answer) {
            report(answer.error());
        } else if (answer->finished.reason == FinishReason::kCancelled) {
            fmt::print(stderr, "[stopped]\n");
        } else if (answer->started.num_dropped_rounds > 0) {
            fmt::print(stderr, "[the oldest {} rounds no longer fit the context]\n",
                       answer->started.num_dropped_rounds);
        }
    }

    static bool prompt_for_line(bool is_terminal, std::string& line) {
        while (true) {
            if (is_terminal) fmt::print(stderr, "\n> ");
            if (std::getline(std::cin, line)) return true;
            if (!take_interrupt()) return false;
            std::cin.clear();  // Ctrl+C at the prompt only clears the line
            clearerr(stdin);
        }
    }

    Result<Answer> answer_last_question(bool print_text) {
        ChatRequest request;
        request.generation_id = ++last_generation_id_;
        request.messages = messages_;
        request.sampling = options_.sampling.params;
        if (options_.sampling.seed >= 0) request.seed = static_cast<std::uint64_t>(options_.sampling.seed);
        request.max_new_tokens = options_.sampling.max_new_tokens;
        request.stop_strings = options_.sampling.stop_strings;

        AnswerWaiter waiter(print_text);
        auto started =
            engine_.chat(std::move(request), [&waiter](const ChatEvent& event) { waiter.on_event(event); });
        if (!started) return tl::unexpected(started.error());
        auto answer = waiter.wait(engine_, last_generation_id_);
        if (answer) {
            messages_.push_back({Role::kAssistant, answer->finished.full_text, answer->finished.answer_ids,
                                 answer->started.prompt_ids});
        }
        return answer;
    }

    const ChatOptions& options_;
    ChatEngine& engine_;
    std::vector<ChatMessage> messages_;
    const std::size_t num_initial_messages_;
    std::uint64_t last_generation_id_ = 0;
};

nlohmann::json to_json(const Answer& answer) {
    const auto seconds = [](std::chrono::nanoseconds time) {
        return std::chrono::duration<double>(time).count();
    };
    const GenerationStats& stats = answer.finished.stats;
    return {
        {"text", answer.finished.full_text},
        {"finish_reason", finish_reason_name(answer.finished.reason)},
        {"seed", answer.started.seed},
        {"usage",
         {{"prompt_tokens", stats.num_prompt_tokens},
          {"reused_tokens", stats.num_reused_tokens},
          {"completion_tokens", stats.num_new_tokens}}},
        {"timings",
         {{"prefill_seconds", seconds(stats.prefill_time)}, {"decode_seconds", seconds(stats.decode_time)}}}};
}

int ask_once(const ChatOptions& options, ChatLoop& loop) {
    const std::string question = options.prompt == "-" ? read_standard_input() : options.prompt;
    const auto answer = loop.ask(question, /*print_text=*/!options.json);
    if (!answer) return report(answer.error());
    write_out(options.json ? to_json(*answer).dump() + "\n" : std::string("\n"));
    return kExitOk;
}

int chat(const ChatOptions& options) {
    auto history = read_history(options.history_file);
    if (!history) return report(history.error());
    if (!options.system.empty()) history->insert(history->begin(), {Role::kSystem, options.system, {}, {}});
    auto engine = load_engine(options.model);
    if (!engine) return report(engine.error());
    install_interrupt_handler();
    ChatLoop loop(options, **engine, std::move(*history));
    return options.prompt.empty() ? loop.run_interactive() : ask_once(options, loop);
}

}  // namespace

void add_chat_command(CLI::App& program, int& exit_code) {
    auto options = std::make_shared<ChatOptions>();
    CLI::App* command =
        program.add_subcommand("chat", "Talk to a model; without PROMPT an interactive conversation");
    add_engine_options(*command, options->model);
    add_sampling_options(*command, options->sampling);
    command->add_option("--system", options->system, "System prompt");
    command->add_option("--history", options->history_file,
                        "JSON list of {\"role\",\"content\"} that came before");
    command->add_flag("--json", options->json, "Print the answer as one JSON object (with PROMPT)");
    command->add_option("prompt", options->prompt, "The question, or - for standard input");
    command->callback([options, &exit_code] { exit_code = chat(*options); });
}

}  // namespace glmchat::cli
