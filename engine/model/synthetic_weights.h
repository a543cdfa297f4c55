#pragma once

#include <cstdint>
#include <string_view>

#include "engine/loader/model_config.h"
#include "engine/model/language_model.h"
#include "engine/model/weight_loading.h"

namespace glmchat {

/// Config of a known shape: "chatglm2-6b", or "chatglm2-tiny" for tests.
/// Errors: kInvalidArgument, naming the known shapes.
Result<ModelConfig> synthetic_config(std::string_view shape_name);

/// Random weights, generated in the wanted precision into memory of their own, so that reading them costs the
/// bandwidth of real ones. Magnitudes are about 1 / sqrt(in_features), so activations neither vanish nor
/// overflow; norms are ones, biases zeros. The same slots give the same weights.
class SyntheticWeights final : public WeightSource {
  public:
    /// @param precision  kAuto is fp16
    explicit SyntheticWeights(Precision precision) : precision_(precision) {}
    Result<kernels::LinearWeight> host_weight(const WeightSlot& slot) override;

  private:
    Precision precision_;
    std::uint64_t num_weights_ = 0;  ///< made so far; seeds the next one
};

}  // namespace glmchat
