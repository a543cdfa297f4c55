#include "kernels/backend.h"
#include "kernels/host_backend.h"
#include "kernels/reference/ops.h"

namespace glmchat::kernels {
namespace {

class ReferenceBackend final : public HostBackend {
  public:
    std::string_view name() const override { return "reference"; }
    std::string description() const override { return "reference: scalar float32, 1 thread"; }

    void embedding(const LinearWeight& table, const RaggedBatch& batch, Tensor hidden_states) override {
        reference::embedding(table, batch, hidden_states);
    }
    void rms_norm(Tensor x, const float* weight, float eps, Tensor y) override {
        reference::rms_norm(x, weight, eps, y);
    }
    void add_rms_norm(Tensor residual, Tensor delta, const float* weight, float eps, Tensor y) override {
        reference::add_rms_norm(residual, delta, weight, eps, y);
    }
    void add(Tensor residual, Tensor delta) override { reference::add(residual, delta); }
    void linear(Tensor x, const LinearWeight& weight, const float* bias, Tensor y) override {
        reference::linear(x, weight, bias, y);
    }
    void rotary_kv_write(Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                         const RaggedBatch& batch, const KvCacheView& cache, int layer) override {
        reference::rotary_kv_write(qkv, shape, rotary, batch, cache, layer);
    }
    void attention(Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch,
                   const KvCacheView& cache, int layer, Tensor context) override {
        reference::attention(qkv, shape, batch, cache, layer, context);
    }
    void swiglu(Tensor gate_up, Tensor y) override { reference::swiglu(gate_up, y); }
    void gather_rows(Tensor x, std::span<const std::int32_t> rows, Tensor y) override {
        reference::gather_rows(x, rows, y);
    }
    void write_prefix_kv(const KvCacheView& cache, int layer, std::span<const std::int32_t> block_table,
                         const float* keys, const float* values, std::int32_t num_slots) override {
        reference::write_prefix_kv(cache, layer, block_table, keys, values, num_slots);
    }
};

}  // namespace

std::unique_ptr<Backend> make_reference_backend() {
    return std::make_unique<ReferenceBackend>();
}

}  // namespace glmchat::kernels
