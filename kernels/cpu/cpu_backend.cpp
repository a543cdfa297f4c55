#include "kernels/cpu/cpu_backend.h"

#include <cassert>
#include <string>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/physical_cores.h"
#include "kernels/host_backend.h"

namespace glmchat::kernels {
namespace {

int threads_or_default(int num_threads) {
    return num_threads > 0 ? num_threads : count_physical_cores();
}

class CpuBackend final : public HostBackend {
  public:
    CpuBackend(int num_threads, IsaLevel level)
        : context_{inner_kernels(level), ThreadPool(threads_or_default(num_threads)), Scratch()} {}

    std::string_view name() const override { return "cpu"; }
    std::string description() const override {
        const int num_threads = context_.pool.num_threads();
        return "CPU (" + std::string(isa_name(context_.kernels.level)) + "), " + std::to_string(num_threads) +
               (num_threads == 1 ? " thread" : " threads");
    }
    void set_num_threads(int num_threads) override {
        context_.pool.set_num_threads(threads_or_default(num_threads));
    }

    void embedding(const LinearWeight& table, const RaggedBatch& batch, Tensor hidden_states) override {
        cpu::embedding(context_, table, batch, hidden_states);
    }
    void rms_norm(Tensor x, const float* weight, float eps, Tensor y) override {
        cpu::rms_norm(context_, x, weight, eps, y);
    }
    void add_rms_norm(Tensor residual, Tensor delta, const float* weight, float eps, Tensor y) override {
        cpu::add_rms_norm(context_, residual, delta, weight, eps, y);
    }
    void add(Tensor residual, Tensor delta) override { cpu::add(context_, residual, delta); }
    void linear(Tensor x, const LinearWeight& weight, const float* bias, Tensor y) override {
        cpu::linear(context_, x, weight, bias, y);
    }
    void rotary_kv_write(Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                         const RaggedBatch& batch, const KvCacheView& cache, int layer) override {
        cpu::rotary_kv_write(context_, qkv, shape, rotary, batch, cache, layer);
    }
    void attention(Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch,
                   const KvCacheView& cache, int layer, Tensor context) override {
        cpu::attention(context_, qkv, shape, batch, cache, layer, context);
    }
    void swiglu(Tensor gate_up, Tensor y) override { cpu::swiglu(context_, gate_up, y); }
    void gather_rows(Tensor x, std::span<const std::int32_t> rows, Tensor y) override {
        cpu::gather_rows(context_, x, rows, y);
    }
    void write_prefix_kv(const KvCacheView& cache, int layer, std::span<const std::int32_t> block_table,
                         const float* keys, const float* values, std::int32_t num_slots) override {
        cpu::write_prefix_kv(context_, cache, layer, block_table, keys, values, num_slots);
    }

  private:
    cpu::Context context_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int num_threads, IsaLevel level) {
    assert(isa_supported(level));
    return std::make_unique<CpuBackend>(num_threads, level);
}

std::unique_ptr<Backend> make_cpu_backend(int num_threads) {
    return make_cpu_backend(num_threads, choose_isa_level());
}

}  // namespace glmchat::kernels
