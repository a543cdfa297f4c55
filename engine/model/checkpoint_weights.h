#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/loader/checkpoint.h"
#include "engine/loader/model_config.h"
#include "engine/model/language_model.h"
#include "engine/model/weight_loading.h"

namespace glmchat {

/// A tensor that must be there, with this shape and one of these element types.
/// Errors: kBadFile with a sentence that names the tensor and the file (the folder when the tensor is
/// missing).
Result<HostTensor> required_tensor(const Checkpoint& checkpoint, const std::string& name,
                                   const std::vector<std::int64_t>& shape,
                                   std::initializer_list<DataType> types);

/// A plain weight (FP32, FP16 or BF16) of shape [rows, cols], or [rows] when cols is 1, as a view of the
/// file.
Result<kernels::LinearWeight> plain_weight(const Checkpoint& checkpoint, const std::string& name,
                                           std::int64_t rows, std::int64_t cols);

/// Weights of an official checkpoint in the precision asked for. What needs no conversion stays a view of the
/// mapped file, official INT8/INT4 tensors always do.
class CheckpointWeights final : public WeightSource {
  public:
    /// @param checkpoint  must outlive this object (not the weights it gave)
    /// Errors: kUnsupported when the precision cannot be had from this checkpoint (int8 from an INT4 one).
    static Result<CheckpointWeights> create(const Checkpoint& checkpoint, const ModelConfig& config,
                                            Precision precision);

    Result<kernels::LinearWeight> host_weight(const WeightSlot& slot) override;

  private:
    CheckpointWeights(const Checkpoint& checkpoint, std::int32_t quantization_bit, Precision precision)
        : checkpoint_(&checkpoint), quantization_bit_(quantization_bit), precision_(precision) {}
    Result<kernels::LinearWeight> official_quantized_weight(const WeightSlot& slot) const;

    const Checkpoint* checkpoint_;
    std::int32_t quantization_bit_;
    Precision precision_;
};

}  // namespace glmchat
