#pragma once

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "kernels/backend.h"

namespace glmchat::test {

/// Memory without maths: for tests whose model computes on its own.
class HostMemoryBackend final : public kernels::Backend {
  public:
    /// Set: the next allocation fails.
    bool fails_to_allocate = false;
    /// Last value given to set_num_threads.
    int num_threads = 0;

    std::string_view name() const override { return "host memory"; }
    std::string description() const override { return "host memory"; }
    kernels::ElementType activation_type() const override { return kernels::ElementType::kFloat32; }

    kernels::Buffer allocate(std::size_t size_bytes) override {
        if (fails_to_allocate) {
            throw kernels::BackendError(kernels::BackendError::Kind::kOutOfMemory, "refused by the test",
                                        size_bytes, 0);
        }
        void* data = std::calloc(1, size_bytes);
        if (data == nullptr) throw std::bad_alloc();
        return {data, size_bytes, [](void* memory) { std::free(memory); }};
    }
    void upload(void* destination, const void* host_source, std::size_t size_bytes) override {
        std::memcpy(destination, host_source, size_bytes);
    }
    void download(void* host_destination, const void* source, std::size_t size_bytes) override {
        std::memcpy(host_destination, source, size_bytes);
    }
    void synchronize() override {}
    void set_num_threads(int count) override { num_threads = count; }

    kernels::LinearWeight prepare_weight(const kernels::LinearWeight&) override { no_maths(); }
    kernels::Buffer prepare_vector(const void*, kernels::ElementType, std::int64_t) override { no_maths(); }
    void begin_forward(const kernels::RaggedBatch&) override { no_maths(); }
    void embedding(const kernels::LinearWeight&, const kernels::RaggedBatch&, kernels::Tensor) override {
        no_maths();
    }
    void rms_norm(kernels::Tensor, const float*, float, kernels::Tensor) override { no_maths(); }
    void add_rms_norm(kernels::Tensor, kernels::Tensor, const float*, float, kernels::Tensor) override {
        no_maths();
    }
    void add(kernels::Tensor, kernels::Tensor) override { no_maths(); }
    void linear(kernels::Tensor, const kernels::LinearWeight&, const float*, kernels::Tensor) override {
        no_maths();
    }
    void rotary_kv_write(kernels::Tensor, const kernels::AttentionShape&, const kernels::RotaryTable&,
                         const kernels::RaggedBatch&, const kernels::KvCacheView&, int) override {
        no_maths();
    }
    void attention(kernels::Tensor, const kernels::AttentionShape&, const kernels::RaggedBatch&,
                   const kernels::KvCacheView&, int, kernels::Tensor) override {
        no_maths();
    }
    void swiglu(kernels::Tensor, kernels::Tensor) override { no_maths(); }
    void gather_rows(kernels::Tensor, std::span<const std::int32_t>, kernels::Tensor) override { no_maths(); }
    void write_prefix_kv(const kernels::KvCacheView&, int, std::span<const std::int32_t>, const float*,
                         const float*, std::int32_t) override {
        no_maths();
    }

  private:
    [[noreturn]] static void no_maths() { throw std::logic_error("this backend does not compute"); }
};

}  // namespace glmchat::test
