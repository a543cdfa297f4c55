#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/cache/block_pool.h"
#include "engine/status.h"
#include "kernels/backend.h"
#include "kernels/batch.h"

namespace glmchat {

class KvCache;

/// The place of one sequence in the KV cache: its block table and the ids whose keys and values are written.
/// Destroying it leaves what was written to be found again. Lives no longer than its cache. Thread: that of
/// the cache.
class KvSequence {
  public:
    KvSequence() = default;  ///< holds nothing
    KvSequence(KvSequence&& other) noexcept;
    KvSequence& operator=(KvSequence&& other) noexcept;
    ~KvSequence() { close(); }

    /// Number of tokens (P-Tuning prefix not counted) whose keys and values are in the cache.
    std::int32_t num_tokens() const;
    std::span<const std::int32_t> block_table() const { return block_table_; }

    /// Makes room for `num_tokens` tokens in all, giving up kept blocks of others where needed.
    /// @return false, and nothing has changed, when the sequences that run hold too many blocks.
    /// Errors: those of the prefix writer.
    Result<bool> reserve(std::int32_t num_tokens);
    /// Says that a forward pass has written these tokens behind the last ones. A pass that failed or was
    /// cancelled is not committed: its slots are written again. Room for them is reserved.
    void commit(std::span<const std::int32_t> ids);
    /// Ends the sequence; it then holds nothing.
    void close();
    /// Ends the sequence without keeping its unfinished last block.
    void discard();

  private:
    friend class KvCache;
    void release_blocks();

    KvCache* cache_ = nullptr;
    std::vector<std::int32_t> block_table_;
    std::vector<std::int32_t> slot_ids_;  // of the written slots, virtual ids of the prefix first
    std::int32_t num_kept_blocks_ = 0;    // leading blocks whose contents are final
    bool shares_ = false;
};

/// The paged key/value cache of all sequences: one allocation of the backend, cut into blocks
/// (kernels/batch.h says how a block lies in memory, block_pool.h who holds it).
///
/// A new sequence begins with the longest list of whole blocks whose ids are those of its prompt, plus the
/// unfinished last block of a finished sequence if that goes on the same way. A P-Tuning prefix counts as
/// virtual ids -1, -2, … before the first token: its whole blocks are written once and shared; a last block
/// that it fills only in part is written for each sequence that does not find it. Thread: one thread at a
/// time.
class KvCache {
  public:
    /// Writes the P-Tuning prefix into the first slots of a sequence.
    using PrefixWriter = std::function<Result<void>(const kernels::KvCacheView& cache,
                                                    std::span<const std::int32_t> block_table)>;

    /// @param shape  everything but `data`. @param prefix_length  slots, 0 = no prefix; then `write_prefix`
    /// may be empty. Errors: kOutOfMemory, kDeviceFailure, kInvalidArgument (the prefix does not fit).
    static Result<std::unique_ptr<KvCache>> create(kernels::Backend& backend, kernels::KvCacheView shape,
                                                   std::int32_t prefix_length, PrefixWriter write_prefix);
    ~KvCache();

    const kernels::KvCacheView& view() const { return view_; }

    /// Starts a sequence for a prompt with what is kept of it; at least the last token is left to compute.
    /// @param reuse  false: nothing is looked up, and nothing is kept of the sequence afterwards
    KvSequence open(std::span<const std::int32_t> prompt_ids, bool reuse);

    /// Forgets all kept tokens. Sequences that run go on with their blocks, which are not found again.
    void forget_all();

    std::int32_t num_blocks_for(std::int32_t num_tokens) const;
    std::size_t size_bytes() const { return buffer_.size_bytes(); }
    std::int64_t num_kept_tokens() const { return pool_.num_kept_tokens(); }
    const BlockPool& pool() const { return pool_; }

  private:
    friend class KvSequence;
    KvCache(kernels::Buffer buffer, const kernels::KvCacheView& view, std::int32_t prefix_length,
            PrefixWriter writer);
    Result<void> write_shared_prefix();
    std::vector<std::int32_t> with_prefix_ids(std::span<const std::int32_t> ids) const;

    const kernels::Buffer buffer_;
    const kernels::KvCacheView view_;
    BlockPool pool_;
    const std::int32_t prefix_length_;
    const PrefixWriter write_prefix_;
    std::vector<std::int32_t>
        prefix_blocks_;  // whole blocks of the prefix, referenced as long as the cache lives
};

}  // namespace glmchat
