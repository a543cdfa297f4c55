#include "engine/model/memory_estimate.h"

#include "engine/model/chatglm2_activations.h"
#include "engine/model/chatglm2_weights.h"
#include "engine/model/weight_conversion.h"

namespace glmchat {
namespace {

using kernels::ElementType;
using kernels::LinearWeight;
using kernels::ScaleLayout;

ElementType stored_type(const ModelConfig& config) {
    return config.torch_dtype == DataType::kFloat32 ? ElementType::kFloat32 : ElementType::kFloat16;
}

LinearWeight plain(ElementType type, const WeightSlot& slot) {
    LinearWeight weight;
    weight.type = type;
    weight.out_features = slot.rows;
    weight.in_features = slot.cols;
    return weight;
}

LinearWeight layer_linear(const ModelConfig& config, Precision precision, const WeightSlot& slot) {
    if (config.quantization_bit != 0) {
        LinearWeight weight =
            plain(config.quantization_bit == 4 ? ElementType::kInt4 : ElementType::kInt8, slot);
        weight.scale_layout = ScaleLayout::kPerRow;
        return weight;
    }
    switch (precision) {
        case Precision::kFloat32:
            return plain(ElementType::kFloat32, slot);
        case Precision::kFloat16:
            return plain(ElementType::kFloat16, slot);
        case Precision::kInt8:
            return quantized_layout(ElementType::kInt8, slot.rows, slot.cols);
        case Precision::kInt4:
            return quantized_layout(ElementType::kInt4, slot.rows, slot.cols);
        case Precision::kAuto:
            break;
    }
    return plain(stored_type(config), slot);
}

LinearWeight table(const ModelConfig& config, Precision precision, const WeightSlot& slot) {
    if (precision == Precision::kFloat32) return plain(ElementType::kFloat32, slot);
    if (precision == Precision::kAuto) return plain(stored_type(config), slot);
    return plain(ElementType::kFloat16, slot);
}

}  // namespace

std::size_t estimate_weight_bytes(const ModelConfig& config, Precision precision) {
    ChatGlm2Weights unused;
    std::size_t total = 0;
    for (const WeightSlot& slot : chatglm2_slots(config, unused)) {
        switch (slot.role) {
            case WeightRole::kLayerLinear:
                total += weight_size_bytes(layer_linear(config, precision, slot));
                break;
            case WeightRole::kTable:
                total += weight_size_bytes(table(config, precision, slot));
                break;
            case WeightRole::kVector:
                total += static_cast<std::size_t>(slot.num_elements()) * sizeof(float);
                break;
        }
    }
    return total;
}

std::size_t kv_bytes_per_token(const ModelConfig& config, ElementType kv_type) {
    const std::int64_t elements =
        std::int64_t{config.num_layers} * 2 * config.multi_query_group_num * config.kv_channels;
    return kernels::element_bytes(kv_type, elements);
}

std::size_t estimate_activation_bytes(const ModelConfig& config, std::int64_t num_tokens,
                                      ElementType activation_type) {
    return ChatGlm2Activations::place(config, num_tokens, activation_type, nullptr).size_bytes;
}

}  // namespace glmchat
