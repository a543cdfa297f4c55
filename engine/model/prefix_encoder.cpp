#include "engine/model/prefix_encoder.h"

#include <cmath>
#include <cstddef>
#include <string>

#include "engine/model/checkpoint_weights.h"
#include "engine/model/weight_conversion.h"
#include "kernels/half.h"

namespace glmchat {
namespace {

using kernels::Buffer;
using kernels::ElementType;
using kernels::LinearWeight;
using kernels::Tensor;

const std::string kPrefixEncoder = "transformer.prefix_encoder.";

/// Copies float32 rows into backend memory as activations.
Buffer upload_activations(const std::vector<float>& values, kernels::Backend& backend) {
    const ElementType type = backend.activation_type();
    Buffer buffer = backend.allocate(kernels::element_bytes(type, static_cast<std::int64_t>(values.size())));
    if (type == ElementType::kFloat32) {
        backend.upload(buffer.data(), values.data(), buffer.size_bytes());
        return buffer;
    }
    std::vector<std::uint16_t> narrowed;
    narrowed.reserve(values.size());
    for (const float value : values) {
        narrowed.push_back(type == ElementType::kFloat16 ? kernels::float_to_half(value)
                                                         : kernels::float_to_bfloat16(value));
    }
    backend.upload(buffer.data(), narrowed.data(), buffer.size_bytes());
    return buffer;
}

/// rows W^T + bias, with W and bias from the checkpoint.
Result<std::vector<float>> project(const std::vector<float>& rows, std::int64_t num_rows,
                                   std::int64_t out_features, const std::string& name,
                                   const Checkpoint& checkpoint, kernels::Backend& backend) {
    const std::int64_t in_features = static_cast<std::int64_t>(rows.size()) / num_rows;
    const Result<LinearWeight> stored = plain_weight(checkpoint, name + ".weight", out_features, in_features);
    if (!stored) return tl::unexpected(stored.error());
    const Result<LinearWeight> stored_bias = plain_weight(checkpoint, name + ".bias", out_features, 1);
    if (!stored_bias) return tl::unexpected(stored_bias.error());

    const LinearWeight weight = backend.prepare_weight(*stored);
    const Buffer bias = backend.prepare_vector(stored_bias->data, stored_bias->type, out_features);
    const Buffer x = upload_activations(rows, backend);
    std::vector<float> projected(static_cast<std::size_t>(num_rows * out_features));
    const Buffer y = backend.allocate(projected.size() * sizeof(float));
    backend.linear(Tensor{x.data(), backend.activation_type(), num_rows, in_features}, weight,
                   bias.as_float(), Tensor{y.data(), ElementType::kFloat32, num_rows, out_features});
    backend.download(projected.data(), y.data(), y.size_bytes());
    return projected;
}

/// [length, num_layers * 2, row_size] as the encoder gives it -> [num_layers * 2, length, row_size]
std::vector<float> split_by_layer(const std::vector<float>& encoded, std::int64_t length,
                                  std::int64_t row_size) {
    std::vector<float> split;
    split.reserve(encoded.size());
    const std::int64_t kv_size = static_cast<std::int64_t>(encoded.size()) / length;
    for (std::int64_t part = 0; part < kv_size / row_size; ++part) {
        for (std::int64_t position = 0; position < length; ++position) {
            const auto row = encoded.begin() + position * kv_size + part * row_size;
            split.insert(split.end(), row, row + row_size);
        }
    }
    return split;
}

}  // namespace

Result<PrefixKeyValues> load_prefix(const Checkpoint& checkpoint, const ModelConfig& config,
                                    kernels::Backend& backend) {
    PrefixKeyValues prefix;
    prefix.length = config.pre_seq_len;
    prefix.row_size = std::int64_t{config.multi_query_group_num} * config.kv_channels;
    const std::int64_t kv_size = std::int64_t{config.num_layers} * 2 * prefix.row_size;

    const Result<LinearWeight> embedding =
        plain_weight(checkpoint, kPrefixEncoder + "embedding.weight", prefix.length, kv_size);
    if (!embedding) return tl::unexpected(embedding.error());
    Result<std::vector<float>> encoded =
        std::vector<float>(static_cast<std::size_t>(prefix.length * kv_size));
    widen_to_float(embedding->data, embedding->type, prefix.length * kv_size, encoded->data());

    if (config.prefix_projection) {
        encoded = project(*encoded, prefix.length, config.hidden_size, kPrefixEncoder + "trans.0", checkpoint,
                          backend);
        if (!encoded) return tl::unexpected(encoded.error());
        for (float& value : *encoded) value = std::tanh(value);
        encoded = project(*encoded, prefix.length, kv_size, kPrefixEncoder + "trans.2", checkpoint, backend);
        if (!encoded) return tl::unexpected(encoded.error());
    }
    prefix.values = split_by_layer(*encoded, prefix.length, prefix.row_size);
    return prefix;
}

}  // namespace glmchat
