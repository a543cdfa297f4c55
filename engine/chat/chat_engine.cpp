#include "engine/chat/chat_engine.h"

#include <algorithm>
#include <random>
#include <utility>

#include <fmt/format.h>

#include "engine/chat/response_stream.h"
#include "engine/loader/model_config.h"

namespace glmchat {
namespace {

constexpr std::int32_t kDefaultContextSize = 8192;  // max_length of the official chat()
constexpr float kModelShare = 0.98F;                // of the progress; the rest is the KV cache

std::uint64_t random_seed() {
    std::random_device device;
    // 32 bits, so that every seed can be typed into the window's field and kept exactly in JSON.
    return device();
}

/// Room kept for the answer when rounds must leave a full context.
std::int32_t answer_reserve(std::int32_t max_new_tokens, std::int32_t context_size) {
    return std::min(max_new_tokens, context_size / 4);
}

/// Turns the scheduler's events of one answer into the chat's. Lives on the scheduler's thread.
class ChatEventTranslator {
  public:
    ChatEventTranslator(std::shared_ptr<const ChatFormat> format, ChatStarted started,
                        std::function<void(const ChatEvent&)> on_event)
        : format_(std::move(format)),
          response_(*format_),
          started_(std::move(started)),
          on_event_(std::move(on_event)) {}

    void take(const GenerationEvent& event) {
        generation_id_ = event.generation_id;
        if (!std::exchange(has_started_, true)) send(started_);
        std::visit([this](const auto& what) { translate(what); }, event.what);
    }

  private:
    void translate(const PrefillProgress& progress) { send(progress); }

    void translate(const TokenEvent& token) {
        ++num_new_tokens_;
        send_text(response_.push(token.text));
    }

    void translate(const FinishedEvent& finished) {
        send_text(response_.push(finished.text) + response_.finish());
        send(ChatFinished{finished.reason, response_.shown(), finished.new_ids, finished.stats});
    }

    void translate(const FailedEvent& failed) {
        send_text(response_.finish());
        send(ChatFailed{failed.status});
    }

    void send_text(std::string text) {
        if (!text.empty()) send(ChatText{std::move(text), num_new_tokens_});
    }

    template <typename What>
    void send(What&& what) {
        on_event_(ChatEvent{generation_id_, std::forward<What>(what)});
    }

    const std::shared_ptr<const ChatFormat> format_;
    ResponseStream response_;
    const ChatStarted started_;
    const std::function<void(const ChatEvent&)> on_event_;
    std::uint64_t generation_id_ = 0;
    std::int32_t num_new_tokens_ = 0;
    bool has_started_ = false;
};

class LocalChatEngine final : public ChatEngine {
  public:
    LocalChatEngine(ChatEngineInfo info, std::shared_ptr<const Tokenizer> tokenizer,
                    std::shared_ptr<const ChatFormat> format, std::unique_ptr<Scheduler> scheduler)
        : info_(std::move(info)),
          tokenizer_(std::move(tokenizer)),
          format_(std::move(format)),
          scheduler_(std::move(scheduler)) {
        scheduler_->start();
    }

    const ChatEngineInfo& info() const override { return info_; }
    const Tokenizer& tokenizer() const override { return *tokenizer_; }
    const ChatFormat& format() const override { return *format_; }
    Scheduler& scheduler() override { return *scheduler_; }
    void cancel(std::uint64_t generation_id) override { scheduler_->cancel(generation_id); }
    void cancel_all() override { scheduler_->cancel_all(); }

    Result<void> chat(ChatRequest request, std::function<void(const ChatEvent&)> on_event) override {
        const std::int32_t max_prompt_tokens =
            info_.context_size - answer_reserve(request.max_new_tokens, info_.context_size);
        auto prompt = format_->build(request.messages, max_prompt_tokens);
        if (!prompt) return tl::unexpected(prompt.error());

        GenerationRequest generation;
        generation.generation_id = request.generation_id;
        generation.prompt_ids = prompt->ids;
        generation.sampling = request.sampling;
        generation.sampling.seed = request.seed ? *request.seed : random_seed();
        generation.max_new_tokens = request.max_new_tokens;
        generation.stop_token_ids = format_->stop_token_ids();
        generation.stop_strings = std::move(request.stop_strings);
        generation.decoder = tokenizer_->make_stream_decoder();
        generation.reuse_prefix = request.reuse_prefix;
        ChatStarted started{std::move(prompt->ids), prompt->num_dropped_rounds, generation.sampling.seed};
        const auto translator =
            std::make_shared<ChatEventTranslator>(format_, std::move(started), std::move(on_event));
        generation.on_event = [translator](const GenerationEvent& event) { translator->take(event); };
        return scheduler_->submit(std::move(generation));
    }

  private:
    const ChatEngineInfo info_;
    const std::shared_ptr<const Tokenizer> tokenizer_;
    const std::shared_ptr<const ChatFormat> format_;
    const std::unique_ptr<Scheduler> scheduler_;
};

std::string folder_name(const std::filesystem::path& folder) {
    const auto normal = std::filesystem::weakly_canonical(folder);
    return display_name(normal.has_filename() ? normal : normal.parent_path());
}

Result<void> check_vocabulary(const Tokenizer& tokenizer, const ModelConfig& config) {
    if (tokenizer.vocabulary_size() <= config.padded_vocab_size) return {};
    return failure(
        StatusKind::kBadFile,
        fmt::format(
            "tokenizer.model and config.json do not belong together: the tokenizer has {} tokens, the "
            "model {}. Download the model folder again.",
            tokenizer.vocabulary_size(), config.padded_vocab_size));
}

}  // namespace

Result<std::unique_ptr<ChatEngine>> ChatEngine::load(const ChatEngineOptions& options,
                                                     const std::function<void(float)>& on_progress,
                                                     std::stop_token stop) {
    auto config = read_model_config(options.model_folder);
    if (!config) return tl::unexpected(config.error());
    auto tokenizer = Tokenizer::open_folder(options.model_folder);
    if (!tokenizer) return tl::unexpected(tokenizer.error());
    if (auto fits = check_vocabulary(**tokenizer, *config); !fits) return tl::unexpected(fits.error());
    auto format = make_chat_format(config->family, *tokenizer);
    if (!format) return tl::unexpected(format.error());
    auto device = open_device(options.device, options.num_threads);
    if (!device) return tl::unexpected(device.error());

    const std::int32_t context_size =
        std::min(options.context_size > 0 ? options.context_size : kDefaultContextSize, config->seq_length);
    ModelLoadOptions model_options;
    model_options.precision = options.precision;
    model_options.max_positions = context_size;
    model_options.prefix_folder = options.prefix_folder;
    model_options.stop = stop;
    if (on_progress) model_options.on_progress = [&](float fraction) { on_progress(fraction * kModelShare); };
    const std::string device_description = device->backend->description();
    auto model = load_language_model(options.model_folder, std::move(device->backend), model_options);
    if (!model) return tl::unexpected(model.error());
    if (stop.stop_requested()) return failure(StatusKind::kCancelled, "Loading was cancelled.");

    ChatEngineInfo info;
    info.model_name = folder_name(options.model_folder);
    info.device_name = device_description;
    info.device_note = device->note;
    info.precision = (*model)->precision();
    info.weight_bytes = (*model)->weight_bytes();

    SchedulerOptions scheduler_options;
    scheduler_options.context_size = context_size;
    scheduler_options.kv_cache_bytes = options.kv_cache_bytes;
    auto scheduler = Scheduler::create(std::move(*model), scheduler_options);
    if (!scheduler) return tl::unexpected(scheduler.error());
    const SchedulerInfo scheduler_info = (*scheduler)->info();
    info.context_size = scheduler_info.context_size;
    info.kv_cache_bytes = scheduler_info.kv_cache_bytes;
    if (on_progress) on_progress(1.0F);
    return std::make_unique<LocalChatEngine>(std::move(info), std::move(*tokenizer), std::move(*format),
                                             std::move(*scheduler));
}

}  // namespace glmchat
