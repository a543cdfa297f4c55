#include "engine/model/weight_loading.h"

#include "engine/model/weight_conversion.h"

namespace glmchat {
namespace {

/// @return bytes the weight takes in the backend
std::size_t prepare(const kernels::LinearWeight& host, const WeightSlot& slot, kernels::Backend& backend) {
    if (auto* const* vector = std::get_if<kernels::Buffer*>(&slot.destination)) {
        **vector = backend.prepare_vector(host.data, host.type, slot.rows);
        return (*vector)->size_bytes();
    }
    kernels::LinearWeight& weight = *std::get<kernels::LinearWeight*>(slot.destination);
    weight = backend.prepare_weight(host);
    return weight_size_bytes(weight);
}

}  // namespace

Result<std::size_t> load_weights(std::span<const WeightSlot> slots, WeightSource& source,
                                 kernels::Backend& backend, const ModelLoadOptions& options) {
    double num_elements = 0;
    for (const WeightSlot& slot : slots) num_elements += static_cast<double>(slot.num_elements());

    const auto report = [&](double num_done) {
        if (options.on_progress) options.on_progress(static_cast<float>(num_done / num_elements));
    };
    std::size_t weight_bytes = 0;
    double num_done = 0;
    for (const WeightSlot& slot : slots) {
        if (options.stop.stop_requested()) return failure(StatusKind::kCancelled, "Loading was cancelled.");
        report(num_done);
        const Result<kernels::LinearWeight> host = source.host_weight(slot);
        if (!host) return tl::unexpected(host.error());
        weight_bytes += prepare(*host, slot, backend);
        num_done += static_cast<double>(slot.num_elements());
    }
    backend.synchronize();
    report(num_done);
    return weight_bytes;
}

}  // namespace glmchat
