#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "engine/loader/model_config.h"
#include "engine/status.h"
#include "kernels/backend.h"

namespace glmchat {

/// What the weights are kept in. kAuto: as the checkpoint stores them. kInt8 and kInt4 quantise the linears
/// of the layers while loading (float16 scales per group, see convert_weight); embedding and output layer
/// stay at 16 bits. An official INT8 or INT4 checkpoint stays as it is, also under kFloat32 and kFloat16,
/// which then apply to the other tensors.
enum class Precision : std::uint8_t { kAuto, kFloat32, kFloat16, kInt8, kInt4 };
std::string precision_name(Precision precision);  ///< "auto", "fp32", "fp16", "int8", "int4"

/// What a forward pass is asked for besides the KV cache.
struct ForwardOptions {
    std::span<const std::int32_t> logit_rows;  ///< rows of the batch whose logits are wanted; may be empty
    std::stop_token stop;                      ///< looked at between layers
    /// When set: called on the calling thread after the embedding (layer 0) and after each layer k
    /// (1..num_layers) with float32 [num_tokens, hidden_size] host memory. For the inspector and the tests;
    /// costs a copy per layer.
    std::function<void(std::int32_t layer, std::span<const float> hidden_states)> on_hidden_states;
};

/// Weights plus a forward pass, one subclass per architecture. Thread: one thread at a time (the
/// scheduler's).
class LanguageModel {
  public:
    virtual ~LanguageModel() = default;

    virtual const ModelConfig& config() const = 0;
    virtual kernels::Backend& backend() = 0;
    virtual Precision precision() const = 0;  ///< what the layers' weights are kept in (BF16 counts as fp16)
    virtual std::size_t weight_bytes() const = 0;  ///< of the prepared weights

    /// Runs the batch through all layers, writing keys and values to `cache`.
    /// @param logits  [logit_rows.size(), padded_vocab_size] float32 host memory
    /// Errors: kCancelled (cache slots of the batch are then undefined), kOutOfMemory, kDeviceFailure,
    /// kInvalidArgument (token id outside the vocabulary, position beyond the rotary table).
    virtual Result<void> forward(const kernels::RaggedBatch& batch, const kernels::KvCacheView& cache,
                                 const ForwardOptions& options, std::span<float> logits) = 0;

    /// Slots at the start of every sequence that a P-Tuning prefix takes; 0 without one. They have no rotary
    /// position: position = kv_slot - prefix_length().
    virtual std::int32_t prefix_length() const = 0;
    /// Writes the prefix keys and values of all layers into the first slots of a sequence; nothing without a
    /// prefix. Errors: kOutOfMemory, kDeviceFailure.
    virtual Result<void> write_prefix(const kernels::KvCacheView& cache,
                                      std::span<const std::int32_t> block_table) = 0;
};

struct ModelLoadOptions {
    Precision precision = Precision::kAuto;  ///< kAuto keeps what the checkpoint stores
    std::int32_t max_positions = 0;          ///< rotary table length; 0 = config.seq_length
    /// P-Tuning: folder with `transformer.prefix_encoder.*` and its own config.json (pre_seq_len), applied
    /// over the base.
    std::filesystem::path prefix_folder;
    std::function<void(float fraction)> on_progress;  ///< 0..1, on the calling thread
    std::stop_token stop;
};

/// Loads the weights of a folder for `backend`.
/// Errors: everything Checkpoint and config refuse; a missing tensor, wrong shape or wrong type names the
/// tensor and file.
Result<std::unique_ptr<LanguageModel>> load_language_model(const std::filesystem::path& folder,
                                                           std::unique_ptr<kernels::Backend> backend,
                                                           const ModelLoadOptions& options);

/// Random weights of a true shape in memory (for `bench --synthetic`): "chatglm2-6b". num_layers 0 = the real
/// count.
Result<std::unique_ptr<LanguageModel>> make_synthetic_model(std::string_view shape_name,
                                                            std::int32_t num_layers,
                                                            std::unique_ptr<kernels::Backend> backend,
                                                            const ModelLoadOptions& options);

}  // namespace glmchat
