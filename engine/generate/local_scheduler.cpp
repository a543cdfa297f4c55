#include "engine/generate/local_scheduler.h"

#include <algorithm>
#include <cassert>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "engine/model/backend_status.h"

namespace glmchat {
namespace {

/// with_errors_as_status knows what memory and devices throw; a decoder or a model may throw anything else.
template <typename Function>
std::invoke_result_t<Function> with_all_errors_as_status(Function&& function) {
    try {
        return with_errors_as_status(std::forward<Function>(function));
    } catch (const std::exception& error) {
        return failure(StatusKind::kInternal, "The answer was ended by an internal error.", error.what());
    }
}

}  // namespace

LocalScheduler::LocalScheduler(std::unique_ptr<LanguageModel> model, std::unique_ptr<KvCache> cache,
                               const SchedulerOptions& options)
    : model_(std::move(model)), cache_(std::move(cache)), options_(options), batch_(model_->prefix_length()) {
    running_.reserve(static_cast<std::size_t>(options_.max_running));
    info_.context_size = options_.context_size;
    info_.kv_cache_bytes = cache_->size_bytes();
    info_.kv_bytes_per_token =
        cache_->view().bytes_per_block() / static_cast<std::size_t>(cache_->view().block_size);
}

LocalScheduler::~LocalScheduler() {
    stop();
    cancel_all();
    while (step()) {
    }
}

// --- any thread ---

SchedulerInfo LocalScheduler::info() const {
    const std::lock_guard lock(mutex_);
    SchedulerInfo info = info_;
    info.num_queued = static_cast<std::int32_t>(waiting_.size());
    return info;
}

Result<void> LocalScheduler::submit(GenerationRequest request) {
    if (Result<void> valid = validate(request, config(), options_.context_size); !valid) return valid;
    auto generation = std::make_unique<Generation>(std::move(request), options_.context_size);
    const std::lock_guard lock(mutex_);
    if (waiting_.size() >= static_cast<std::size_t>(options_.max_queued)) {
        return failure(StatusKind::kBusy,
                       fmt::format("{} requests are waiting already; try again later.", waiting_.size()));
    }
    const std::uint64_t id = generation->id();
    if (live_.contains(id)) {
        return failure(StatusKind::kInvalidArgument,
                       fmt::format("A request with generation_id {} is running already.", id));
    }
    waiting_.push_back(std::move(generation));
    live_.emplace(id, waiting_.back().get());
    changed_.notify_all();
    return {};
}

void LocalScheduler::cancel(std::uint64_t generation_id) {
    const std::lock_guard lock(mutex_);
    const auto found = live_.find(generation_id);
    if (found == live_.end()) return;
    found->second->stop_source().request_stop();
    if (in_flight_) in_flight_->stop_if_mostly_cancelled();
}

void LocalScheduler::cancel_all() {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, generation] : live_) generation->stop_source().request_stop();
    if (in_flight_) in_flight_->stop_if_mostly_cancelled();
}

void LocalScheduler::clear_cache() {
    const std::lock_guard lock(mutex_);
    clears_cache_ = true;
    if (!is_stepping_) apply_settings();
    changed_.notify_all();
}

void LocalScheduler::set_num_threads(std::int32_t num_threads) {
    const std::lock_guard lock(mutex_);
    num_threads_ = num_threads;
    if (!is_stepping_) apply_settings();
}

void LocalScheduler::start() {
    const std::lock_guard lock(thread_mutex_);
    if (thread_.joinable()) return;
    thread_ = std::jthread([this](const std::stop_token& stop) { run_thread(stop); });
}

void LocalScheduler::stop() {
    const std::lock_guard lock(thread_mutex_);
    thread_ = {};  // asks it to stop and joins
}

void LocalScheduler::run_thread(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        if (run_step(stop)) continue;
        std::unique_lock lock(mutex_);
        changed_.wait(lock, stop, [this] { return !waiting_.empty(); });
    }
}

void LocalScheduler::InFlight::stop_if_mostly_cancelled() {
    std::int32_t num_cancelled = 0;
    for (const auto& [generation, rows] : num_rows) num_cancelled += generation->is_cancelled() ? rows : 0;
    if (num_cancelled > 0 && 2 * num_cancelled >= num_rows_total) stop.request_stop();
}

// --- one step ---

bool LocalScheduler::run_step(std::stop_token thread_stop) {
    begin_step();
    const Result<bool> worked = with_all_errors_as_status([&]() -> Result<bool> {
        const bool ended_some = end_cancelled();
        admit_waiting();
        const bool computes = !running_.empty();
        if (computes) compute(plan_step(), thread_stop);
        return computes || ended_some;
    });
    if (!worked) {  // out of memory outside of any one sequence's work
        while (!running_.empty()) fail(take_running(*running_.back()), worked.error());
    }
    end_step();
    return worked.value_or(true);
}

void LocalScheduler::begin_step() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !is_stepping_; });
    is_stepping_ = true;
    apply_settings();
}

void LocalScheduler::end_step() {
    const std::lock_guard lock(mutex_);
    info_.num_running = static_cast<std::int32_t>(running_.size());
    info_.num_cached_tokens = cache_->num_kept_tokens();
    is_stepping_ = false;
    changed_.notify_all();
}

/// Needs mutex_, and that no other thread steps.
void LocalScheduler::apply_settings() {
    if (num_threads_) model_->backend().set_num_threads(*num_threads_);
    num_threads_.reset();
    if (std::exchange(clears_cache_, false)) cache_->forget_all();
    info_.num_cached_tokens = cache_->num_kept_tokens();
}

/// @return whether there were any
bool LocalScheduler::end_cancelled() {
    std::vector<std::unique_ptr<Generation>> cancelled;
    const auto take_from = [&cancelled](auto& generations) {
        for (auto& generation : generations) {
            if (generation->is_cancelled()) cancelled.push_back(std::move(generation));
        }
        std::erase(generations, nullptr);
    };
    take_from(running_);
    {
        const std::lock_guard lock(mutex_);
        take_from(waiting_);
    }
    for (auto& generation : cancelled) finish(std::move(generation), FinishReason::kCancelled);
    return !cancelled.empty();
}

void LocalScheduler::admit_waiting() {
    while (running_.size() < static_cast<std::size_t>(options_.max_running)) {
        Generation* next = nullptr;
        {
            const std::lock_guard lock(mutex_);
            if (waiting_.empty()) return;
            next = waiting_.front().get();  // stays the first: only this thread takes from the queue
        }
        const Result<bool> admitted = with_all_errors_as_status([&]() -> Result<bool> {
            if (next->wants_no_tokens()) return true;
            return next->admit(*cache_);
        });
        if (admitted && !*admitted) return;
        std::unique_ptr<Generation> taken;
        {
            const std::lock_guard lock(mutex_);
            taken = std::move(waiting_.front());
            waiting_.pop_front();
        }
        if (!admitted) {
            fail(std::move(taken), admitted.error());
        } else if (taken->wants_no_tokens()) {
            finish(std::move(taken), FinishReason::kMaxNewTokens);
        } else {
            running_.push_back(std::move(taken));
        }
    }
}

std::vector<LocalScheduler::Share> LocalScheduler::plan_step() {
    std::vector<std::int32_t> num_pending;
    for (const auto& generation : running_) {
        if (generation->num_pending() > 1) num_pending.push_back(generation->num_pending());
    }
    const bool writes_an_answer = num_pending.size() < running_.size();
    const std::int32_t budget =
        writes_an_answer ? std::min(options_.prefill_chunk_tokens, options_.prefill_tokens_beside_decode)
                         : options_.prefill_chunk_tokens;
    const std::vector<std::int32_t> prefill = share_prefill(num_pending, budget);

    std::vector<Share> shares;
    auto next_prefill = prefill.begin();
    for (const auto& generation : running_) {
        shares.push_back({generation.get(), generation->num_pending() > 1 ? *next_prefill++ : 1});
    }
    // Oldest first; a preempted one is behind those that were asked before it.
    std::size_t num_planned = 0;
    while (num_planned < running_.size() && reserve_or_preempt(shares[num_planned])) ++num_planned;
    shares.resize(num_planned);
    return shares;
}

/// Makes room for a share, at the cost of younger sequences.
/// @return false when the generation itself had to go
bool LocalScheduler::reserve_or_preempt(const Share& share) {
    KvSequence& kv = share.generation->kv();
    while (true) {
        const Result<bool> has_room =
            with_all_errors_as_status([&] { return kv.reserve(kv.num_tokens() + share.num_rows); });
        if (!has_room) {
            fail(take_running(*share.generation), has_room.error());
            return false;
        }
        if (*has_room) return true;
        assert(running_.size() > 1);  // one full context always fits
        const Generation* youngest = running_.back().get();
        running_.back()->preempt();
        {
            const std::lock_guard lock(mutex_);
            waiting_.push_front(std::move(running_.back()));
        }
        running_.pop_back();
        if (youngest == share.generation) return false;
    }
}

void LocalScheduler::compute(std::span<const Share> shares, const std::stop_token& thread_stop) {
    if (shares.empty()) return;
    const Result<void> computed = with_all_errors_as_status([&] { return forward(shares, thread_stop); });
    if (computed) {
        deliver(shares);
    } else if (computed.error().kind == StatusKind::kCancelled) {
        return;  // nothing was committed; the next step ends what was cancelled and repeats the rest
    } else if (shares.size() == 1) {
        fail(take_running(*shares.front().generation), computed.error());
    } else {
        for (const Share& share : shares) compute({&share, 1}, thread_stop);
    }
}

Result<void> LocalScheduler::forward(std::span<const Share> shares, const std::stop_token& thread_stop) {
    batch_.clear();
    InFlight in_flight;
    for (const auto& [generation, num_rows] : shares) {
        const std::int32_t num_before = generation->kv().num_tokens();
        const auto ids = generation->ids().subspan(static_cast<std::size_t>(num_before),
                                                   static_cast<std::size_t>(num_rows));
        batch_.add(ids, num_before, generation->kv().block_table(), num_rows == generation->num_pending());
        in_flight.num_rows.emplace(generation, num_rows);
        in_flight.num_rows_total += num_rows;
    }
    logits_.resize(batch_.logit_rows().size() * static_cast<std::size_t>(config().padded_vocab_size));

    std::stop_source stop = in_flight.stop;
    const std::stop_callback stop_with_thread(thread_stop, [&stop] { stop.request_stop(); });
    {
        const std::lock_guard lock(mutex_);
        in_flight_ = std::move(in_flight);
        in_flight_->stop_if_mostly_cancelled();
    }
    ForwardOptions forward_options;
    forward_options.logit_rows = batch_.logit_rows();
    forward_options.stop = stop.get_token();
    const Result<void> computed = with_all_errors_as_status(
        [&] { return model_->forward(batch_.view(), cache_->view(), forward_options, logits_); });
    {
        const std::lock_guard lock(mutex_);
        in_flight_.reset();
    }
    if (!computed && computed.error().kind == StatusKind::kCancelled && !stop.stop_requested()) {
        return failure(StatusKind::kInternal, "The model broke off although nobody asked for it.");
    }
    return computed;
}

void LocalScheduler::deliver(std::span<const Share> shares) {
    const auto vocab = static_cast<std::size_t>(config().padded_vocab_size);
    std::span<const float> logits = logits_;
    for (const auto& [generation, num_rows] : shares) {
        const bool has_logits = num_rows == generation->num_pending();
        const auto delivered = with_all_errors_as_status([&, count = num_rows, target = generation] {
            target->committed(count);
            return has_logits ? target->take_logits(logits.first(vocab)) : std::optional<FinishReason>();
        });
        if (has_logits) logits = logits.subspan(vocab);
        if (!delivered) {
            fail(take_running(*generation), delivered.error());
        } else if (generation->receiver_error()) {
            fail(take_running(*generation), *generation->receiver_error());
        } else if (*delivered) {
            finish(take_running(*generation), **delivered);
        }
    }
}

// --- the end of a generation ---

std::unique_ptr<Generation> LocalScheduler::take_running(const Generation& generation) {
    const auto place = std::ranges::find(running_, &generation, &std::unique_ptr<Generation>::get);
    std::unique_ptr<Generation> taken = std::move(*place);
    running_.erase(place);
    return taken;
}

void LocalScheduler::finish(std::unique_ptr<Generation> generation, FinishReason reason) {
    generation->kv().close();
    forget(*generation);
    const Result<void> finished = with_all_errors_as_status([&]() -> Result<void> {
        generation->finish(reason);
        return {};
    });
    if (!finished) generation->fail(finished.error());
}

void LocalScheduler::fail(std::unique_ptr<Generation> generation, Status status) {
    // Keys and values behind scores that are not numbers, or of a device that failed, are not to be trusted.
    if (status.kind == StatusKind::kBadLogits || status.kind == StatusKind::kDeviceFailure) {
        generation->kv().discard();
        cache_->forget_all();
    } else {
        generation->kv().close();
    }
    forget(*generation);
    generation->fail(std::move(status));
}

/// Its end event is next: info() no longer counts it and its id is free.
void LocalScheduler::forget(Generation& generation) {
    const std::lock_guard lock(mutex_);
    live_.erase(generation.id());
    info_.num_running = static_cast<std::int32_t>(running_.size());
    info_.num_cached_tokens = cache_->num_kept_tokens();
}

}  // namespace glmchat
