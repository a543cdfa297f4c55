#include "tests/engine/model/failing_backend.h"

#include <string>
#include <utility>

namespace glmchat::test {
namespace {

using kernels::AttentionShape;
using kernels::Backend;
using kernels::BackendError;
using kernels::Buffer;
using kernels::ElementType;
using kernels::KvCacheView;
using kernels::LinearWeight;
using kernels::RaggedBatch;
using kernels::RotaryTable;
using kernels::Tensor;

class FailingBackend final : public Backend {
  public:
    explicit FailingBackend(std::shared_ptr<AllocationLog> log) : log_(std::move(log)) {}

    Buffer allocate(std::size_t size_bytes) override {
        log_->last_request = size_bytes;
        count_request();
        return watched(inner_->allocate(size_bytes));
    }
    LinearWeight prepare_weight(const LinearWeight& host) override {
        count_request();
        LinearWeight weight = inner_->prepare_weight(host);
        weight.owner = watched_share(weight.owner);
        return weight;
    }
    Buffer prepare_vector(const void* host_data, ElementType type, std::int64_t count) override {
        count_request();
        return watched(inner_->prepare_vector(host_data, type, count));
    }

    std::string_view name() const override { return "failing"; }
    std::string description() const override { return "reference with failing memory"; }
    ElementType activation_type() const override { return inner_->activation_type(); }
    void upload(void* destination, const void* host_source, std::size_t size_bytes) override {
        inner_->upload(destination, host_source, size_bytes);
    }
    void download(void* host_destination, const void* source, std::size_t size_bytes) override {
        inner_->download(host_destination, source, size_bytes);
    }
    void synchronize() override { inner_->synchronize(); }
    void begin_forward(const RaggedBatch& batch) override { inner_->begin_forward(batch); }
    void embedding(const LinearWeight& table, const RaggedBatch& batch, Tensor hidden_states) override {
        inner_->embedding(table, batch, hidden_states);
    }
    void rms_norm(Tensor x, const float* weight, float eps, Tensor y) override {
        inner_->rms_norm(x, weight, eps, y);
    }
    void add_rms_norm(Tensor residual, Tensor delta, const float* weight, float eps, Tensor y) override {
        inner_->add_rms_norm(residual, delta, weight, eps, y);
    }
    void add(Tensor residual, Tensor delta) override { inner_->add(residual, delta); }
    void linear(Tensor x, const LinearWeight& weight, const float* bias, Tensor y) override {
        inner_->linear(x, weight, bias, y);
    }
    void rotary_kv_write(Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                         const RaggedBatch& batch, const KvCacheView& cache, int layer) override {
        inner_->rotary_kv_write(qkv, shape, rotary, batch, cache, layer);
    }
    void attention(Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch,
                   const KvCacheView& cache, int layer, Tensor context) override {
        inner_->attention(qkv, shape, batch, cache, layer, context);
    }
    void swiglu(Tensor gate_up, Tensor y) override { inner_->swiglu(gate_up, y); }
    void gather_rows(Tensor x, std::span<const std::int32_t> rows, Tensor y) override {
        inner_->gather_rows(x, rows, y);
    }
    void write_prefix_kv(const KvCacheView& cache, int layer, std::span<const std::int32_t> block_table,
                         const float* keys, const float* values, std::int32_t num_slots) override {
        inner_->write_prefix_kv(cache, layer, block_table, keys, values, num_slots);
    }

  private:
    void count_request() {
        if (++log_->num_requests == log_->fail_at) {
            throw BackendError(log_->kind,
                               "request " + std::to_string(log_->num_requests) + " fails on purpose");
        }
    }

    /// Counts as alive until the last share is gone.
    std::shared_ptr<const void> watched_share(std::shared_ptr<const void> memory) {
        ++log_->num_alive;
        const void* address = log_.get();  // any non-null address: the share is only a lifetime
        return {address, [log = log_, memory = std::move(memory)](const void*) { --log->num_alive; }};
    }
    Buffer watched(const Buffer& buffer) {
        return {buffer.data(), buffer.size_bytes(), [share = watched_share(buffer.share())](void*) {}};
    }

    std::shared_ptr<AllocationLog> log_;
    std::unique_ptr<Backend> inner_ = kernels::make_reference_backend();
};

}  // namespace

std::unique_ptr<Backend> make_failing_backend(std::shared_ptr<AllocationLog> log) {
    return std::make_unique<FailingBackend>(std::move(log));
}

}  // namespace glmchat::test
