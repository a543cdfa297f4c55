#pragma once

#include <algorithm>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "tests/engine/generate/host_memory_backend.h"

#include "engine/cache/kv_cache.h"

namespace glmchat::test {

using Ids = std::vector<std::int32_t>;

struct CacheShape {
    std::int32_t num_blocks = 8;
    std::int32_t block_size = 4;
    std::int32_t prefix_length = 0;
};

/// A cache over host memory whose slots the test fills through `slot`, as a forward pass would.
class CacheFixture {
  public:
    explicit CacheFixture(const CacheShape& shape) : shape_(shape) {
        kernels::KvCacheView view;
        view.num_layers = 1;
        view.num_blocks = shape.num_blocks;
        view.block_size = shape.block_size;
        view.num_kv_heads = 1;
        view.head_dim = 1;
        cache_ =
            KvCache::create(backend_, view, shape.prefix_length, [this](const auto& cache, auto block_table) {
                return write_prefix(cache, block_table);
            }).value();
    }

    KvCache& cache() { return *cache_; }
    std::int32_t num_prefix_writes() const { return num_prefix_writes_; }

    /// Value that stands for keys and values of the last of `slot_ids`: as in a model, it depends on all ids
    /// before.
    static float fingerprint(std::span<const std::int32_t> slot_ids) {
        std::uint32_t hash = 17;
        for (const std::int32_t id : slot_ids)
            hash = (hash * 31 + static_cast<std::uint32_t>(id + 1000)) % 16777213;
        return static_cast<float>(hash);
    }

    float& slot(const KvSequence& sequence, std::size_t index) {
        return slot(cache_->view(), sequence.block_table(), index);
    }

    Ids with_prefix(const Ids& ids) const {
        Ids all(static_cast<std::size_t>(shape_.prefix_length));
        std::iota(all.rbegin(), all.rend(), -shape_.prefix_length);
        all.insert(all.end(), ids.begin(), ids.end());
        return all;
    }

    /// What a forward pass over ids[num_tokens..] leaves in memory.
    void write(const KvSequence& sequence, const Ids& ids) {
        const Ids all = with_prefix(ids);
        for (auto at = all.size() - ids.size() + static_cast<std::size_t>(sequence.num_tokens());
             at < all.size(); ++at) {
            slot(sequence, at) = fingerprint(std::span(all).first(at + 1));
        }
    }

    /// Computes `ids` (all of the sequence) from where it stands. @return false when there was no room
    bool grow(KvSequence& sequence, const Ids& ids) {
        if (!sequence.reserve(static_cast<std::int32_t>(ids.size())).value()) return false;
        write(sequence, ids);
        sequence.commit(std::span(ids).subspan(static_cast<std::size_t>(sequence.num_tokens())));
        return true;
    }

    /// The written slots hold what belongs there.
    bool is_intact(const KvSequence& sequence, const Ids& ids) {
        const Ids all = with_prefix(ids);
        const auto num_slots = static_cast<std::size_t>(shape_.prefix_length + sequence.num_tokens());
        if (sequence.num_tokens() == 0) return true;
        for (std::size_t at = 0; at < num_slots; ++at) {
            if (slot(sequence, at) != fingerprint(std::span(all).first(at + 1))) return false;
        }
        return true;
    }

    /// A whole answer: opens, computes and ends. @return number of tokens that were found
    std::int32_t run(const Ids& ids, std::size_t prompt_size) {
        KvSequence sequence = cache_->open(std::span(ids).first(prompt_size), true);
        const std::int32_t num_found = sequence.num_tokens();
        if (!grow(sequence, ids)) throw std::runtime_error("no room");
        return num_found;
    }

  private:
    static float& slot(const kernels::KvCacheView& view, std::span<const std::int32_t> block_table,
                       std::size_t index) {
        const auto block_size = static_cast<std::size_t>(view.block_size);
        const std::int64_t offset =
            view.offset(0, block_table[index / block_size], 0, 0, static_cast<int>(index % block_size));
        return static_cast<float*>(view.data)[offset];
    }

    Result<void> write_prefix(const kernels::KvCacheView& view, std::span<const std::int32_t> block_table) {
        ++num_prefix_writes_;
        const Ids ids = with_prefix({});
        for (std::size_t at = 0; at < ids.size(); ++at)
            slot(view, block_table, at) = fingerprint(std::span(ids).first(at + 1));
        return {};
    }

    const CacheShape shape_;
    HostMemoryBackend backend_;
    std::int32_t num_prefix_writes_ = 0;
    std::unique_ptr<KvCache> cache_;
};

}  // namespace glmchat::test
