#pragma once

#include "kernels/backend.h"

namespace glmchat::kernels {

/// What the reference and the cpu backend share: activations are float32 in host memory, weights stay where
/// the loader mapped them, every call has finished when it returns.
class HostBackend : public Backend {
  public:
    ElementType activation_type() const override { return ElementType::kFloat32; }

    Buffer allocate(std::size_t size_bytes) override;
    void upload(void* destination, const void* host_source, std::size_t size_bytes) override;
    void download(void* host_destination, const void* source, std::size_t size_bytes) override;
    void synchronize() override {}
    /// Copies nothing: the result points at the host's memory and shares `host.owner`.
    LinearWeight prepare_weight(const LinearWeight& host) override { return host; }
    Buffer prepare_vector(const void* host_data, ElementType type, std::int64_t count) override;
    void begin_forward(const RaggedBatch& /*batch*/) override {}
};

}  // namespace glmchat::kernels
