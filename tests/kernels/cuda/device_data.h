#pragma once

#include <cstdint>
#include <vector>

#include "tests/kernels/cuda/device_memory.h"
#include "tests/kernels/test_batch.h"
#include "tests/kernels/test_data.h"

#include "kernels/cuda/ops.h"

namespace glmchat::test {

/// A weight of test_data.h on the device, exact to the byte.
class DeviceWeight {
  public:
    DeviceWeight(const kernels::LinearWeight& host, const Stream& stream);
    const kernels::cuda::WeightView& view() const { return view_; }

  private:
    DeviceArray<std::byte> data_;
    DeviceArray<std::byte> scales_;
    kernels::cuda::WeightView view_;
};

/// The arrays of a batch on the device, with its attention tiles.
class DeviceBatchArrays {
  public:
    DeviceBatchArrays(const kernels::RaggedBatch& batch, std::int32_t tokens_per_tile, const Stream& stream);
    const kernels::cuda::DeviceBatch& view() const { return view_; }

  private:
    DeviceArray<std::int32_t> token_ids_;
    DeviceArray<std::int32_t> positions_;
    DeviceArray<std::int32_t> sequence_ids_;
    DeviceArray<std::int32_t> kv_slots_;
    DeviceArray<std::int32_t> block_tables_;
    DeviceArray<kernels::cuda::AttentionTile> tiles_;
    kernels::cuda::DeviceBatch view_;
};

/// Cache contents: normal numbers in the cache's type, everywhere.
std::vector<std::byte> random_cache(const kernels::KvCacheView& view, RandomData& random);
/// Cache elements as float32.
std::vector<float> widen_cache(std::span<const std::byte> bytes, kernels::ElementType type);

kernels::Tensor host_matrix(std::vector<float>& values, std::int64_t rows, std::int64_t cols);

}  // namespace glmchat::test
