#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "engine/loader/model_config.h"
#include "engine/model/chatglm2_activations.h"
#include "engine/model/chatglm2_weights.h"
#include "engine/model/language_model.h"
#include "engine/model/prefix_encoder.h"
#include "engine/model/weight_loading.h"
#include "kernels/backend.h"

namespace glmchat {

/// ChatGLM2-6B and its kin (CodeGeeX2, ChatGLM2-6B-32k): pre-norm GLMBlocks with multi-query attention,
/// rotary embedding on the first half of each head, SwiGLU; plain causal attention.
class ChatGlm2 final : public LanguageModel {
  public:
    /// @param prefix_checkpoint  holds the P-Tuning prefix when config.pre_seq_len is not 0; else unused, may
    /// be null Errors: those of load_weights() and load_prefix(). Throws what the backend throws.
    static Result<std::unique_ptr<LanguageModel>> create(const ModelConfig& config,
                                                         std::unique_ptr<kernels::Backend> backend,
                                                         WeightSource& source,
                                                         const Checkpoint* prefix_checkpoint,
                                                         const ModelLoadOptions& options);

    const ModelConfig& config() const override { return config_; }
    kernels::Backend& backend() override { return *backend_; }
    Precision precision() const override;
    std::size_t weight_bytes() const override { return weight_bytes_; }
    Result<void> forward(const kernels::RaggedBatch& batch, const kernels::KvCacheView& cache,
                         const ForwardOptions& options, std::span<float> logits) override;
    std::int32_t prefix_length() const override { return prefix_.length; }
    Result<void> write_prefix(const kernels::KvCacheView& cache,
                              std::span<const std::int32_t> block_table) override;

  private:
    ChatGlm2(const ModelConfig& config, std::unique_ptr<kernels::Backend> backend)
        : config_(config), backend_(std::move(backend)) {}

    void upload_rotary_table(std::int32_t num_positions);
    Result<void> check(const kernels::RaggedBatch& batch, const kernels::KvCacheView& cache,
                       std::span<const std::int32_t> logit_rows, std::span<float> logits) const;
    Result<void> run(const kernels::RaggedBatch& batch, const kernels::KvCacheView& cache,
                     const ForwardOptions& options, std::span<float> logits);
    void glm_block(std::int32_t layer, const ChatGlm2Activations& x, const kernels::RaggedBatch& batch,
                   const kernels::KvCacheView& cache);
    void compute_logits(const ChatGlm2Activations& x, std::span<const std::int32_t> rows, float* logits);
    ChatGlm2Activations activations(std::int64_t num_tokens);
    void report_hidden_states(std::int32_t layer, kernels::Tensor hidden_states,
                              const ForwardOptions& options);

    ModelConfig config_;
    std::unique_ptr<kernels::Backend> backend_;  ///< before all that holds its memory
    ChatGlm2Weights weights_;
    std::size_t weight_bytes_ = 0;
    PrefixKeyValues prefix_;
    kernels::Buffer rotary_memory_;
    kernels::RotaryTable rotary_;
    kernels::Buffer activation_memory_;  ///< for the largest batch seen
};

}  // namespace glmchat
