#include "engine/cache/kv_cache.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include <fmt/format.h>

#include "engine/model/backend_status.h"

namespace glmchat {
namespace {

/// Virtual id of slot `slot` of a P-Tuning prefix; never a token id.
std::int32_t prefix_id(std::int32_t slot) {
    return -1 - slot;
}

std::int32_t ceil_div(std::int32_t value, std::int32_t divisor) {
    return (value + divisor - 1) / divisor;
}

std::span<const std::int32_t> block_ids(std::span<const std::int32_t> slot_ids, std::int32_t block,
                                        std::int32_t block_size) {
    return slot_ids.subspan(static_cast<std::size_t>(block) * static_cast<std::size_t>(block_size),
                            static_cast<std::size_t>(block_size));
}

}  // namespace

// --- KvSequence ---

KvSequence::KvSequence(KvSequence&& other) noexcept
    : cache_(std::exchange(other.cache_, nullptr)),
      block_table_(std::move(other.block_table_)),
      slot_ids_(std::move(other.slot_ids_)),
      num_kept_blocks_(std::exchange(other.num_kept_blocks_, 0)),
      shares_(other.shares_) {}

KvSequence& KvSequence::operator=(KvSequence&& other) noexcept {
    if (this == &other) return *this;
    close();
    cache_ = std::exchange(other.cache_, nullptr);
    block_table_ = std::move(other.block_table_);
    slot_ids_ = std::move(other.slot_ids_);
    num_kept_blocks_ = std::exchange(other.num_kept_blocks_, 0);
    shares_ = other.shares_;
    return *this;
}

std::int32_t KvSequence::num_tokens() const {
    if (cache_ == nullptr) return 0;
    return std::max(0, static_cast<std::int32_t>(slot_ids_.size()) - cache_->prefix_length_);
}

Result<bool> KvSequence::reserve(std::int32_t num_tokens) {
    assert(cache_ != nullptr);
    const auto num_held = static_cast<std::int32_t>(block_table_.size());
    const std::int32_t num_missing = cache_->num_blocks_for(num_tokens) - num_held;
    if (num_missing > cache_->pool_.num_available()) return false;
    if (num_missing > 0) block_table_.reserve(block_table_.size() + static_cast<std::size_t>(num_missing));
    for (std::int32_t i = 0; i < num_missing; ++i) block_table_.push_back(*cache_->pool_.allocate());

    const auto prefix_length = static_cast<std::size_t>(cache_->prefix_length_);
    if (slot_ids_.size() >= prefix_length) return true;
    // The prefix ends inside this block. Its whole blocks get the values they have.
    if (Result<void> written = cache_->write_prefix_(cache_->view_, block_table_); !written) {
        return tl::unexpected(written.error());
    }
    while (slot_ids_.size() < prefix_length) {
        slot_ids_.push_back(prefix_id(static_cast<std::int32_t>(slot_ids_.size())));
    }
    return true;
}

void KvSequence::commit(std::span<const std::int32_t> ids) {
    assert(cache_ != nullptr);
    slot_ids_.insert(slot_ids_.end(), ids.begin(), ids.end());
    if (!shares_) return;
    const std::int32_t block_size = cache_->view_.block_size;
    const std::int32_t num_full = static_cast<std::int32_t>(slot_ids_.size()) / block_size;
    for (; num_kept_blocks_ < num_full; ++num_kept_blocks_) {
        const auto index = static_cast<std::size_t>(num_kept_blocks_);
        const std::int32_t parent = index == 0 ? BlockPool::kRoot : block_table_[index - 1];
        if (parent != BlockPool::kRoot && !cache_->pool_.is_kept(parent)) return;  // forgotten meanwhile
        block_table_[index] = cache_->pool_.keep(block_table_[index], parent,
                                                 block_ids(slot_ids_, num_kept_blocks_, block_size));
    }
}

void KvSequence::close() {
    if (cache_ == nullptr) return;
    const auto num_full = slot_ids_.size() / static_cast<std::size_t>(cache_->view_.block_size);
    const std::span<const std::int32_t> tail_ids =
        std::span(slot_ids_).subspan(num_full * static_cast<std::size_t>(cache_->view_.block_size));
    const std::int32_t parent = num_full == 0 ? BlockPool::kRoot : block_table_[num_full - 1];
    const bool path_is_kept = parent == BlockPool::kRoot || cache_->pool_.is_kept(parent);
    if (shares_ && path_is_kept && !tail_ids.empty()) {
        for (; block_table_.size() > num_full + 1; block_table_.pop_back()) {
            cache_->pool_.release(block_table_.back());  // reserved, not written
        }
        cache_->pool_.keep_tail(block_table_.back(), parent, tail_ids);
        block_table_.pop_back();
    }
    release_blocks();
}

void KvSequence::discard() {
    if (cache_ != nullptr) release_blocks();
}

void KvSequence::release_blocks() {
    // From the end, so that a block is always given up before the ones it builds on.
    for (; !block_table_.empty(); block_table_.pop_back()) cache_->pool_.release(block_table_.back());
    slot_ids_.clear();
    num_kept_blocks_ = 0;
    cache_ = nullptr;
}

// --- KvCache ---

Result<std::unique_ptr<KvCache>> KvCache::create(kernels::Backend& backend, kernels::KvCacheView shape,
                                                 std::int32_t prefix_length, PrefixWriter write_prefix) {
    return with_errors_as_status([&]() -> Result<std::unique_ptr<KvCache>> {
        if (ceil_div(prefix_length, shape.block_size) > shape.num_blocks) {
            return failure(StatusKind::kInvalidArgument,
                           fmt::format("The P-Tuning prefix of {} slots does not fit a KV cache of {} slots.",
                                       prefix_length, shape.num_blocks * shape.block_size));
        }
        kernels::Buffer buffer =
            backend.allocate(shape.bytes_per_block() * static_cast<std::size_t>(shape.num_blocks));
        shape.data = buffer.data();
        std::unique_ptr<KvCache> cache(
            new KvCache(std::move(buffer), shape, prefix_length, std::move(write_prefix)));
        if (Result<void> written = cache->write_shared_prefix(); !written) {
            return tl::unexpected(written.error());
        }
        return cache;
    });
}

KvCache::KvCache(kernels::Buffer buffer, const kernels::KvCacheView& view, std::int32_t prefix_length,
                 PrefixWriter writer)
    : buffer_(std::move(buffer)),
      view_(view),
      pool_(view.num_blocks, view.block_size),
      prefix_length_(prefix_length),
      write_prefix_(std::move(writer)) {}

KvCache::~KvCache() = default;

Result<void> KvCache::write_shared_prefix() {
    if (prefix_length_ == 0) return {};
    std::vector<std::int32_t> block_table;
    for (std::int32_t i = 0; i < num_blocks_for(0); ++i) block_table.push_back(*pool_.allocate());
    if (Result<void> written = write_prefix_(view_, block_table); !written) return written;

    const auto num_whole = static_cast<std::size_t>(prefix_length_ / view_.block_size);
    if (block_table.size() > num_whole) {
        pool_.release(block_table.back());
        block_table.pop_back();
    }
    const std::vector<std::int32_t> ids = with_prefix_ids({});
    std::int32_t parent = BlockPool::kRoot;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(num_whole); ++i) {
        const std::int32_t block = block_table[static_cast<std::size_t>(i)];
        parent = pool_.keep(block, parent, block_ids(ids, i, view_.block_size));
    }
    prefix_blocks_ = std::move(block_table);
    return {};
}

std::vector<std::int32_t> KvCache::with_prefix_ids(std::span<const std::int32_t> ids) const {
    std::vector<std::int32_t> slot_ids;
    slot_ids.reserve(static_cast<std::size_t>(prefix_length_) + ids.size());
    for (std::int32_t slot = 0; slot < prefix_length_; ++slot) slot_ids.push_back(prefix_id(slot));
    slot_ids.insert(slot_ids.end(), ids.begin(), ids.end());
    return slot_ids;
}

KvSequence KvCache::open(std::span<const std::int32_t> prompt_ids, bool reuse) {
    assert(!prompt_ids.empty());
    const std::vector<std::int32_t> prompt_slots = with_prefix_ids(prompt_ids.first(prompt_ids.size() - 1));
    const std::span<const std::int32_t> wanted(prompt_slots);
    const auto block_size = static_cast<std::size_t>(view_.block_size);

    KvSequence sequence;
    sequence.cache_ = this;
    sequence.shares_ = reuse;
    std::size_t num_found = 0;
    std::int32_t parent = BlockPool::kRoot;
    const auto append = [&](std::int32_t block, std::size_t num_ids) {
        sequence.block_table_.push_back(block);
        num_found += num_ids;
        parent = block;
    };
    for (const std::int32_t block : prefix_blocks_) {
        pool_.add_reference(block);
        append(block, block_size);
    }
    if (reuse) {
        while (num_found + block_size <= wanted.size()) {
            const auto block = pool_.find(parent, wanted.subspan(num_found, block_size));
            if (!block) break;
            append(*block, block_size);
        }
    }
    sequence.num_kept_blocks_ = static_cast<std::int32_t>(sequence.block_table_.size());
    if (reuse) {
        if (const auto tail = pool_.take_tail(parent, wanted.subspan(num_found))) {
            append(tail->block, static_cast<std::size_t>(tail->num_ids));
        }
    }
    sequence.slot_ids_.assign(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(num_found));
    return sequence;
}

void KvCache::forget_all() {
    pool_.forget_all(prefix_blocks_);
}

std::int32_t KvCache::num_blocks_for(std::int32_t num_tokens) const {
    return ceil_div(prefix_length_ + num_tokens, view_.block_size);
}

}  // namespace glmchat
