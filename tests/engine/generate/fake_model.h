#pragma once

#include <functional>
#include <set>
#include <vector>

#include "tests/engine/generate/host_memory_backend.h"

#include "engine/model/language_model.h"

namespace glmchat::test {

using Ids = std::vector<std::int32_t>;

/// A model whose next token depends on every id before it, read back through the KV cache as attention does.
/// Its second layer keeps, per slot, a number that stands for the whole history up to there, so a wrong block
/// table, a wrong slot, a block of another history or a half-written block all give wrong tokens. greedy()
/// says without any cache what is right.
class FakeModel final : public LanguageModel {
  public:
    struct Options {
        std::int32_t vocab = 97;
        std::int32_t seq_length = 512;
        std::int32_t prefix_length = 0;
    };
    explicit FakeModel(const Options& options);

    const ModelConfig& config() const override { return config_; }
    kernels::Backend& backend() override { return backend_; }
    Precision precision() const override { return Precision::kFloat32; }
    std::size_t weight_bytes() const override { return 0; }
    std::int32_t prefix_length() const override { return options_.prefix_length; }
    /// Throws std::logic_error when the batch breaks the contract of kernels/batch.h.
    Result<void> forward(const kernels::RaggedBatch& batch, const kernels::KvCacheView& cache,
                         const ForwardOptions& options, std::span<float> logits) override;
    Result<void> write_prefix(const kernels::KvCacheView& cache,
                              std::span<const std::int32_t> block_table) override;

    /// Logits behind `ids`, computed from the ids alone.
    std::vector<float> logits_after(std::span<const std::int32_t> ids) const;
    /// The `count` ids that greedy decoding must give.
    Ids greedy(Ids prompt, std::size_t count) const;

    // --- what a test may set ---
    /// Layer 0 or 1, on the thread that steps, with the stop token of the pass.
    std::function<void(std::int32_t layer, const std::stop_token& stop)> before_layer;
    std::function<Result<void>(const kernels::RaggedBatch&)> fails;  ///< asked before anything is written
    std::function<void(std::span<float> logits, std::int32_t position)>
        change_logits;  ///< of the row at `position`
    bool fails_to_write_prefix = false;

    // --- what it saw ---
    HostMemoryBackend& host_backend() { return backend_; }
    std::vector<Ids> batches;            ///< rows per sequence of every forward pass
    std::int32_t num_rows_computed = 0;  ///< of all passes that were completed
    std::int32_t num_prefix_writes = 0;

  private:
    void fill_logits(std::span<float> logits, std::uint32_t history) const;

    const Options options_;
    ModelConfig config_;
    HostMemoryBackend backend_;
};

}  // namespace glmchat::test
