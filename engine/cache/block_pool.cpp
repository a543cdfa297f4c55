#include "engine/cache/block_pool.h"

#include <algorithm>
#include <cassert>

namespace glmchat {
namespace {

/// FNV-1a over whole ids. Collisions cost a comparison, nothing else.
std::uint64_t hash_of(std::int32_t parent, std::span<const std::int32_t> ids) {
    std::uint64_t hash = 0xCBF29CE484222325u;
    const auto mix = [&hash](std::int32_t value) {
        hash = (hash ^ static_cast<std::uint32_t>(value)) * 0x100000001B3u;
    };
    mix(parent);
    for (const std::int32_t id : ids) mix(id);
    return hash;
}

std::size_t common_prefix(std::span<const std::int32_t> a, std::span<const std::int32_t> b) {
    const std::size_t shorter = std::min(a.size(), b.size());
    const auto end = a.begin() + static_cast<std::ptrdiff_t>(shorter);
    return static_cast<std::size_t>(std::mismatch(a.begin(), end, b.begin()).first - a.begin());
}

std::int64_t count_tokens(std::span<const std::int32_t> ids) {
    return std::ranges::count_if(ids, [](std::int32_t id) { return id >= 0; });
}

/// Removes the entry key -> block.
template <typename Map, typename Key>
void erase_entry(Map& map, const Key& key, std::int32_t block) {
    const auto [first, last] = map.equal_range(key);
    const auto entry = std::find_if(first, last, [block](const auto& pair) { return pair.second == block; });
    assert(entry != last);
    map.erase(entry);
}

}  // namespace

BlockPool::BlockPool(std::int32_t num_blocks, std::int32_t block_size)
    : block_size_(static_cast<std::size_t>(block_size)), blocks_(static_cast<std::size_t>(num_blocks)) {
    free_.reserve(blocks_.size());
    for (std::int32_t block = num_blocks - 1; block >= 0; --block) free_.push_back(block);  // 0 goes first
}

std::optional<std::int32_t> BlockPool::allocate() {
    if (free_.empty()) {
        if (unused_.empty()) return std::nullopt;
        const std::int32_t oldest = unused_.front();
        forget(oldest);  // moves it to free_
    }
    const std::int32_t block = free_.back();
    free_.pop_back();
    at(block).num_references = 1;
    return block;
}

void BlockPool::add_reference(std::int32_t block) {
    Block& held = at(block);
    if (held.num_references == 0) unused_.erase(held.place);
    ++held.num_references;
}

void BlockPool::release(std::int32_t block) {
    Block& held = at(block);
    assert(held.num_references > 0);
    if (--held.num_references > 0) return;
    if (held.state == State::kPrivate) {
        free_.push_back(block);
    } else {
        held.place = unused_.insert(unused_.end(), block);
    }
}

std::optional<std::int32_t> BlockPool::find_full(std::int32_t parent,
                                                 std::span<const std::int32_t> ids) const {
    const auto [first, last] = full_blocks_.equal_range(hash_of(parent, ids));
    for (auto entry = first; entry != last; ++entry) {
        const Block& kept = at(entry->second);
        if (kept.parent == parent && std::ranges::equal(kept.ids, ids)) return entry->second;
    }
    return std::nullopt;
}

std::optional<std::int32_t> BlockPool::find(std::int32_t parent, std::span<const std::int32_t> ids) {
    const std::optional<std::int32_t> block = find_full(parent, ids);
    if (block) add_reference(*block);
    return block;
}

std::optional<BlockPool::Tail> BlockPool::take_tail(std::int32_t parent, std::span<const std::int32_t> ids) {
    Tail best;
    const auto [first, last] = tails_.equal_range(parent);
    for (auto entry = first; entry != last; ++entry) {
        const auto num_ids = static_cast<std::int32_t>(common_prefix(at(entry->second).ids, ids));
        if (num_ids > best.num_ids) best = {entry->second, num_ids};
    }
    if (best.num_ids == 0) return std::nullopt;
    add_reference(best.block);
    forget(best.block);
    return best;
}

std::int32_t BlockPool::keep(std::int32_t block, std::int32_t parent, std::span<const std::int32_t> ids) {
    assert(ids.size() == block_size_ && at(block).state == State::kPrivate && at(block).num_references == 1);
    if (const std::optional<std::int32_t> same = find(parent, ids)) {
        release(block);
        return *same;
    }
    mark_kept(block, State::kFull, parent, ids);
    return block;
}

void BlockPool::keep_tail(std::int32_t block, std::int32_t parent, std::span<const std::int32_t> ids) {
    assert(!ids.empty() && ids.size() < block_size_ && at(block).state == State::kPrivate);
    const auto [first, last] = tails_.equal_range(parent);
    const bool known = std::any_of(first, last, [&](const auto& entry) {
        return common_prefix(at(entry.second).ids, ids) == ids.size();
    });
    if (!known) mark_kept(block, State::kTail, parent, ids);
    release(block);
}

void BlockPool::mark_kept(std::int32_t block, State state, std::int32_t parent,
                          std::span<const std::int32_t> ids) {
    Block& kept = at(block);
    kept.state = state;
    kept.parent = parent;
    kept.ids.assign(ids.begin(), ids.end());
    num_kept_tokens_ += count_tokens(ids);
    if (state == State::kFull) {
        full_blocks_.emplace(hash_of(parent, ids), block);
    } else {
        tails_.emplace(parent, block);
    }
}

void BlockPool::forget(std::int32_t block) {
    Block& kept = at(block);
    if (kept.state == State::kFull) {
        erase_entry(full_blocks_, hash_of(kept.parent, kept.ids), block);
    } else {
        erase_entry(tails_, kept.parent, block);
    }
    num_kept_tokens_ -= count_tokens(kept.ids);
    kept.state = State::kPrivate;
    if (kept.num_references > 0) return;
    unused_.erase(kept.place);
    free_.push_back(block);
}

void BlockPool::forget_all(std::span<const std::int32_t> except) {
    for (std::int32_t block = 0; block < num_blocks(); ++block) {
        if (is_kept(block) && std::ranges::find(except, block) == except.end()) forget(block);
    }
}

}  // namespace glmchat
