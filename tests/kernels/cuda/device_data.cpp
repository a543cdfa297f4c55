#include "tests/kernels/cuda/device_data.h"

#include <cstring>

#include "kernels/cuda/attention_tiles.h"
#include "kernels/half.h"

namespace glmchat::test {

using kernels::ElementType;
using kernels::LinearWeight;
using kernels::ScaleLayout;

namespace {

std::span<const std::byte> data_bytes(const LinearWeight& weight) {
    const auto count = weight.out_features * weight.in_features;
    return {static_cast<const std::byte*>(weight.data), kernels::element_bytes(weight.type, count)};
}

std::span<const std::byte> scale_bytes(const LinearWeight& weight) {
    if (weight.scale_layout == ScaleLayout::kNone) return {};
    const std::int64_t per_row = weight.scale_layout == ScaleLayout::kPerRow
                                     ? 1
                                     : (weight.in_features + weight.group_size - 1) / weight.group_size;
    return {static_cast<const std::byte*>(weight.scales),
            kernels::element_bytes(weight.scale_type, weight.out_features * per_row)};
}

}  // namespace

DeviceWeight::DeviceWeight(const LinearWeight& host, const Stream& stream)
    : data_(data_bytes(host), stream),
      scales_(scale_bytes(host), stream),
      view_(kernels::cuda::view_of(host)) {
    view_.data = data_.data();
    view_.scales = scales_.data();
}

DeviceBatchArrays::DeviceBatchArrays(const kernels::RaggedBatch& batch, std::int32_t tokens_per_tile,
                                     const Stream& stream)
    : token_ids_(batch.token_ids, stream),
      positions_(batch.positions, stream),
      sequence_ids_(batch.sequence_ids, stream),
      kv_slots_(batch.kv_slots, stream),
      block_tables_(batch.block_tables, stream),
      tiles_(kernels::cuda::attention_tiles(batch.query_starts, tokens_per_tile), stream) {
    view_.token_ids = token_ids_.data();
    view_.positions = positions_.data();
    view_.sequence_ids = sequence_ids_.data();
    view_.kv_slots = kv_slots_.data();
    view_.block_tables = block_tables_.data();
    view_.tiles = tiles_.data();
    view_.num_tokens = batch.num_tokens();
    view_.max_blocks_per_sequence = batch.max_blocks_per_sequence;
    view_.num_tiles =
        static_cast<std::int32_t>(kernels::cuda::attention_tiles(batch.query_starts, tokens_per_tile).size());
}

std::vector<std::byte> random_cache(const kernels::KvCacheView& view, RandomData& random) {
    const std::int64_t count =
        std::int64_t{view.num_layers} * view.num_blocks * 2 * view.half_block_elements();
    const std::vector<float> values = random.normal(count);
    std::vector<std::byte> bytes(kernels::element_bytes(view.type, count));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t half = kernels::float_to_half(values[i]);
        if (view.type == ElementType::kFloat16) {
            std::memcpy(&bytes[2 * i], &half, 2);
        } else {
            std::memcpy(&bytes[4 * i], &values[i], 4);
        }
    }
    return bytes;
}

std::vector<float> widen_cache(std::span<const std::byte> bytes, ElementType type) {
    std::vector<float> values(bytes.size() / (type == ElementType::kFloat16 ? 2 : 4));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (type == ElementType::kFloat32) {
            std::memcpy(&values[i], &bytes[4 * i], 4);
            continue;
        }
        std::uint16_t half = 0;
        std::memcpy(&half, &bytes[2 * i], 2);
        values[i] = kernels::half_to_float(half);
    }
    return values;
}

kernels::Tensor host_matrix(std::vector<float>& values, std::int64_t rows, std::int64_t cols) {
    return {values.data(), ElementType::kFloat32, rows, cols};
}

}  // namespace glmchat::test
