#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"
#include "kernels/cuda/device_memory.h"
#include "kernels/cuda/linear_cublas.h"
#include "kernels/cuda/op_recorder.h"
#include "kernels/cuda/ops.h"
#include "kernels/cuda/staging.h"

namespace glmchat::kernels::cuda {

/// Backend on one CUDA device, on one stream of its own. Stages are recorded and reach the device when a
/// result is asked for (download, synchronize) or memory is touched (upload); see op_recorder.h.
/// Neighbouring stages that a kernel does in one go are joined as they are recorded:
///   linear + rotary_kv_write on its result,   linear + swiglu on its result (the linear's own result is then
///   never stored), gather_rows + rms_norm in place on its result.
/// Activations are float32.
class CudaBackend final : public Backend {
  public:
    /// Throws BackendError.
    explicit CudaBackend(int device);
    ~CudaBackend() override;

    std::string_view name() const override { return "cuda"; }
    std::string description() const override { return description_; }
    ElementType activation_type() const override { return ElementType::kFloat32; }

    Buffer allocate(std::size_t size_bytes) override;
    void upload(void* destination, const void* host_source, std::size_t size_bytes) override;
    void download(void* host_destination, const void* source, std::size_t size_bytes) override;
    void synchronize() override;
    LinearWeight prepare_weight(const LinearWeight& host) override;
    Buffer prepare_vector(const void* host_data, ElementType type, std::int64_t count) override;

    void begin_forward(const RaggedBatch& batch) override;
    void embedding(const LinearWeight& table, const RaggedBatch& batch, Tensor hidden_states) override;
    void rms_norm(Tensor x, const float* weight, float eps, Tensor y) override;
    void add_rms_norm(Tensor residual, Tensor delta, const float* weight, float eps, Tensor y) override;
    void add(Tensor residual, Tensor delta) override;
    void linear(Tensor x, const LinearWeight& weight, const float* bias, Tensor y) override;
    void rotary_kv_write(Tensor qkv, const AttentionShape& shape, const RotaryTable& rotary,
                         const RaggedBatch& batch, const KvCacheView& cache, int layer) override;
    void attention(Tensor qkv, const AttentionShape& shape, const RaggedBatch& batch,
                   const KvCacheView& cache, int layer, Tensor context) override;
    void swiglu(Tensor gate_up, Tensor y) override;
    void gather_rows(Tensor x, std::span<const std::int32_t> rows, Tensor y) override;
    void write_prefix_kv(const KvCacheView& cache, int layer, std::span<const std::int32_t> block_table,
                         const float* keys, const float* values, std::int32_t num_slots) override;

  private:
    /// A stage that may become part of the next one.
    struct Gather {
        const float* x;
        const std::int32_t* row_ids;
        float* y;
        std::int32_t rows;
        std::int32_t cols;
    };

    void activate() const;
    void record_pending();
    void record_linear(const LinearArguments& arguments);
    void flush();
    /// Adds an array to what upload_packed() will copy. @return its place on the device
    const std::int32_t* pack_indices(std::span<const std::int32_t> indices);
    void pack_tiles();
    /// Copies what was packed from `first` on: one copy, not one per array.
    void upload_packed(std::size_t first);
    void prepare_tiles(const AttentionShape& shape);
    /// A device copy that lives until the next forward pass.
    const std::int32_t* upload_row_ids(std::span<const std::int32_t> rows);

    const int device_;
    int num_multiprocessors_ = 0;
    std::string description_;
    StreamHandle stream_;
    Staging staging_;
    OpRecorder recorder_;
    std::unique_ptr<LinearCublas> cublas_;
    DeviceMemory indices_;   ///< batch arrays, then tiles
    DeviceMemory row_ids_;   ///< of gathers, one after another
    DeviceMemory partials_;  ///< of attention over long contexts

    DeviceBatch batch_;
    std::vector<std::int32_t> host_indices_;  ///< as in indices_
    std::vector<std::int32_t> query_starts_;
    bool replays_ = false;  ///< the next flush is a whole decode step, worth a graph
    std::size_t row_ids_used_ = 0;
    std::int32_t tokens_per_tile_ = 0;  ///< as the heads of the last attention want it; 0: none yet

    std::optional<LinearArguments> pending_linear_;
    std::optional<Gather> pending_gather_;
};

}  // namespace glmchat::kernels::cuda
