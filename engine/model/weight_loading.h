#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "engine/model/language_model.h"
#include "engine/status.h"
#include "kernels/backend.h"

namespace glmchat {

enum class WeightRole : std::uint8_t {
    kLayerLinear,  ///< quantised when the precision asks for it
    kTable,        ///< embedding and output layer: 16 bit at least
    kVector,       ///< norm weight or bias: float32 in the backend
};

/// One tensor that an architecture needs, under the checkpoint's own name. An architecture is a list of
/// these: loading, generating and estimating all walk the same list.
struct WeightSlot {
    WeightRole role = WeightRole::kVector;
    std::string name;
    std::int64_t rows = 0;  ///< out_features; the length of a vector
    std::int64_t cols = 1;  ///< in_features; 1 for a vector
    /// Where the prepared weight goes; a vector goes into a Buffer. Outlives the loading.
    std::variant<kernels::LinearWeight*, kernels::Buffer*> destination;

    std::int64_t num_elements() const { return rows * cols; }
};

/// Where weights come from: a checkpoint, or a generator.
class WeightSource {
  public:
    virtual ~WeightSource() = default;
    /// The slot's tensor in host memory, in the precision wanted; a vector as a plain [count, 1] weight.
    virtual Result<kernels::LinearWeight> host_weight(const WeightSlot& slot) = 0;
};

/// Fetches every slot, prepares it for `backend` and stores it at its destination, one after another: at any
/// time at most one tensor is held twice. Reports progress by elements done and looks at options.stop between
/// tensors.
/// @return bytes of the prepared weights
/// Errors: those of the source, kCancelled. Throws what the backend throws.
Result<std::size_t> load_weights(std::span<const WeightSlot> slots, WeightSource& source,
                                 kernels::Backend& backend, const ModelLoadOptions& options);

}  // namespace glmchat
