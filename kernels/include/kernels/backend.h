#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kernels/batch.h"
#include "kernels/tensor.h"

namespace glmchat::kernels {

/// What a backend throws when memory or the device fails. The engine turns it into a Status; nothing else is
/// thrown.
class BackendError : public std::runtime_error {
  public:
    enum class Kind { kOutOfMemory, kDeviceFailure };
    BackendError(Kind error_kind, const std::string& message, std::size_t needed = 0,
                 std::size_t available = 0)
        : std::runtime_error(message), kind(error_kind), needed_bytes(needed), free_bytes(available) {}
    Kind kind;
    std::size_t needed_bytes;  ///< 0 when not known
    std::size_t free_bytes;
};

/// Memory of one backend, freed with the object.
class Buffer {
  public:
    Buffer() = default;
    Buffer(void* data, std::size_t size_bytes, std::function<void(void*)> release)
        : data_(data, std::move(release)), size_bytes_(size_bytes) {}
    void* data() const { return data_.get(); }
    float* as_float() const { return static_cast<float*>(data_.get()); }
    std::size_t size_bytes() const { return size_bytes_; }
    /// A share in the memory, for LinearWeight::owner.
    std::shared_ptr<const void> share() const { return data_; }

  private:
    std::shared_ptr<void> data_;
    std::size_t size_bytes_ = 0;
};

/// Tensor maths at the granularity of a pipeline stage. Three implementations: reference, cpu, cuda.
/// Tensors and the float pointers of norms and biases are memory of this backend. Calls are ordered; on a GPU
/// they are asynchronous until download() or synchronize(). Shapes are asserted (our bug), memory and device
/// failures throw BackendError. Thread: one thread at a time.
class Backend {
  public:
    virtual ~Backend() = default;

    virtual std::string_view name() const = 0;    ///< "reference", "cpu", "cuda"
    virtual std::string description() const = 0;  ///< for people: instruction set and threads, or the card
    virtual ElementType activation_type() const = 0;  ///< of every activation Tensor

    // --- memory ---
    virtual Buffer allocate(std::size_t size_bytes) = 0;  ///< zero-filled; alignment >= 64
    virtual void upload(void* destination, const void* host_source, std::size_t size_bytes) = 0;
    virtual void download(void* host_destination, const void* source, std::size_t size_bytes) = 0;
    virtual void synchronize() = 0;
    /// Makes a host weight usable by linear() and embedding(): may keep pointing at host memory (the result
    /// then shares `host.owner`), copy or repack it.
    virtual LinearWeight prepare_weight(const LinearWeight& host) = 0;
    /// Copies a host vector (FP32, FP16 or BF16) into backend memory as float32: norm weights and biases.
    virtual Buffer prepare_vector(const void* host_data, ElementType type, std::int64_t count) = 0;

    // --- one forward pass ---
    /// Announces the batch of the coming stages (a GPU copies the index arrays here). Called once per forward
    /// pass.
    virtual void begin_forward(const RaggedBatch& batch) = 0;

    /// hidden_states[t] = table[token_ids[t]].  table [vocab, hidden], hidden_states [num_tokens, hidden].
    virtual void embedding(const LinearWeight& table, const RaggedBatch& batch, Tensor hidden_states) = 0;

    /// y = x / sqrt(mean(x^2) + eps) * weight, float32 accumulation. x, y [rows, cols]; may be the same
    /// memory.
    virtual void rms_norm(Tensor x, const float* weight, float eps, Tensor y) = 0;

    /// residual += delta, then y = rms_norm(residual). One pass over the rows; y may be delta, not residual.
    virtual void add_rms_norm(Tensor residual, Tensor delta, const float* weight, float eps, Tensor y) = 0;

    /// residual += delta.
    virtual void add(Tensor residual, Tensor delta) = 0;

    /// y = x W^T (+ bias).  x [rows, in], y [rows, out], bias [out] float32 or null. y of type kFloat32 is
    /// allowed whatever the activation type (logits). x and y do not overlap.
    virtual void linear(Tensor x, const LinearWeight& weight, const float* bias, Tensor y) = 0;

    /// Rotates the query and key heads of each row of `qkv` [num_tokens, shape.qkv_cols()] in place, in
    /// float32, at the batch's positions, and writes key and value rows to the batch's KV slots of `layer`.
    virtual void rotary_kv_write(Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                                 const RaggedBatch& batch, const KvCacheView& cache, int layer) = 0;

    /// context[t][h] = softmax(q[t][h] . K / sqrt(head_dim)) V over slots 0..kv_slots[t] of the token's
    /// sequence. Scores and softmax are float32. qkv as left by rotary_kv_write; context [num_tokens,
    /// shape.query_cols()].
    virtual void attention(Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch,
                           const KvCacheView& cache, int layer, Tensor context) = 0;

    /// y = silu(gate) * up.  gate_up [rows, 2 * ffn] = [gate | up], y [rows, ffn].
    virtual void swiglu(Tensor gate_up, Tensor y) = 0;

    /// y[i] = x[rows[i]]; `rows` is host memory.
    virtual void gather_rows(Tensor x, std::span<const std::int32_t> rows, Tensor y) = 0;

    /// Stores given key and value rows at slots 0..num_slots-1 of one sequence (P-Tuning prefix): used as
    /// stored, not rotated. keys, values: float32 HOST memory [num_slots, num_kv_heads, head_dim].
    virtual void write_prefix_kv(const KvCacheView& cache, int layer,
                                 std::span<const std::int32_t> block_table, const float* keys,
                                 const float* values, std::int32_t num_slots) = 0;

    /// Number of worker threads from the next stage on (CPU backends; others ignore it).
    virtual void set_num_threads(int /*num_threads*/) {}
};

/// Scalar float32, one obvious loop per op: the oracle of every other backend. Single-threaded.
std::unique_ptr<Backend> make_reference_backend();

/// SIMD chosen at run time, own thread pool. num_threads 0 = physical cores.
std::unique_ptr<Backend> make_cpu_backend(int num_threads = 0);

}  // namespace glmchat::kernels
