#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace glmchat {

/// Who holds which block of the KV cache, and which blocks hold what. Knows block numbers and token ids, no
/// memory.
///
/// A block is free, private (one sequence writes it), or kept: its contents are final and can be found by
/// their ids. A kept block is full, or the tail of a finished sequence; it says its ids and the kept full
/// block before it, so that a path from the root is one exact list of ids. Ids are compared, hashes only
/// speed the search up.
///
/// Kept blocks that nobody references wait in order of last use and are given up, oldest first, when a block
/// is needed. A sequence holds every block of its path and releases from its end, so a block never goes
/// before those behind it. Thread: one thread at a time.
class BlockPool {
  public:
    static constexpr std::int32_t kRoot = -1;  ///< parent of the first block of a sequence

    BlockPool(std::int32_t num_blocks, std::int32_t block_size);

    /// A private block with one reference: a free one, else the kept one that has not been used for longest.
    /// Nothing when every block is referenced.
    std::optional<std::int32_t> allocate();

    void add_reference(std::int32_t block);
    /// Gives one reference back. After the last one a kept block waits to be found again, another becomes
    /// free.
    void release(std::int32_t block);

    /// The kept full block with exactly these ids behind `parent`, with a new reference. @param ids
    /// [block_size]
    std::optional<std::int32_t> find(std::int32_t parent, std::span<const std::int32_t> ids);

    struct Tail {
        std::int32_t block = 0;
        std::int32_t num_ids = 0;  ///< leading ids of the block that are those asked for, at least 1
    };
    /// Takes the kept tail behind `parent` that begins with most of `ids` out of the pool, as a private
    /// block: its other slots may be overwritten.
    std::optional<Tail> take_tail(std::int32_t parent, std::span<const std::int32_t> ids);

    /// Makes a private block that was filled with `ids` findable. @param parent  kRoot or a kept full block
    /// @return `block`, or the block with the same contents that was kept already; then the reference moved
    /// there
    std::int32_t keep(std::int32_t block, std::int32_t parent, std::span<const std::int32_t> ids);
    /// Releases a private block of which only the first slots are written, and makes those findable.
    /// @param ids  1..block_size - 1 of them
    void keep_tail(std::int32_t block, std::int32_t parent, std::span<const std::int32_t> ids);

    /// Forgets what the kept blocks hold, but not `except`, which are a path from the root. Forgotten blocks
    /// that are referenced stay where they are and become free when released.
    void forget_all(std::span<const std::int32_t> except = {});

    bool is_kept(std::int32_t block) const { return at(block).state != State::kPrivate; }
    std::int32_t num_references(std::int32_t block) const { return at(block).num_references; }
    std::int32_t num_blocks() const { return static_cast<std::int32_t>(blocks_.size()); }
    /// Blocks that allocate() could hand out.
    std::int32_t num_available() const { return static_cast<std::int32_t>(free_.size() + unused_.size()); }
    /// Kept ids, without the virtual (negative) ones of a prefix.
    std::int64_t num_kept_tokens() const { return num_kept_tokens_; }

  private:
    enum class State : std::uint8_t { kPrivate, kFull, kTail };  // a free block is private to nobody

    struct Block {
        State state = State::kPrivate;
        std::int32_t num_references = 0;
        std::int32_t parent = kRoot;
        std::vector<std::int32_t> ids;
        std::list<std::int32_t>::iterator place;  // in unused_, while kept and not referenced
    };

    Block& at(std::int32_t block) { return blocks_[static_cast<std::size_t>(block)]; }
    const Block& at(std::int32_t block) const { return blocks_[static_cast<std::size_t>(block)]; }
    std::optional<std::int32_t> find_full(std::int32_t parent, std::span<const std::int32_t> ids) const;
    void mark_kept(std::int32_t block, State state, std::int32_t parent, std::span<const std::int32_t> ids);
    void forget(std::int32_t block);

    const std::size_t block_size_;
    std::vector<Block> blocks_;
    std::vector<std::int32_t> free_;
    std::list<std::int32_t> unused_;  // kept, no references; longest unused first
    std::unordered_multimap<std::uint64_t, std::int32_t> full_blocks_;  // hash of parent and ids -> block
    std::unordered_multimap<std::int32_t, std::int32_t> tails_;         // parent -> block
    std::int64_t num_kept_tokens_ = 0;
};

}  // namespace glmchat
