#include "engine/model/checkpoint_weights.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/model/weight_conversion.h"

namespace glmchat {
namespace {

using kernels::ElementType;
using kernels::LinearWeight;
using kernels::ScaleLayout;

std::string names_of(std::initializer_list<DataType> types) {
    std::vector<std::string_view> names;
    for (const DataType type : types) names.push_back(data_type_name(type));
    return fmt::format("{}", fmt::join(names, " or "));
}

/// The one weight file, or "model-00001-of-00007.safetensors with the other shards".
std::string names_of_files(const Checkpoint& checkpoint) {
    const std::vector<TensorInfo>& tensors = checkpoint.tensors();
    if (tensors.empty()) return "The weight file";
    const std::string& first = tensors.front().file_name;
    const bool is_only_one = std::all_of(tensors.begin(), tensors.end(),
                                         [&](const TensorInfo& tensor) { return tensor.file_name == first; });
    return is_only_one ? first : first + " with the other shards";
}

/// Of the plain types and int8; required_tensor() lets nothing else through.
ElementType element_type(DataType type) {
    switch (type) {
        case DataType::kFloat16:
            return ElementType::kFloat16;
        case DataType::kBFloat16:
            return ElementType::kBFloat16;
        case DataType::kInt8:
            return ElementType::kInt8;
        default:
            return ElementType::kFloat32;
    }
}

/// What a stored plain tensor becomes.
ElementType target_type(WeightRole role, ElementType stored, Precision precision) {
    if (role == WeightRole::kVector) return stored;  // the backend keeps vectors in float32 anyway
    switch (precision) {
        case Precision::kFloat32:
            return ElementType::kFloat32;
        case Precision::kFloat16:
            return ElementType::kFloat16;
        case Precision::kInt8:
        case Precision::kInt4:
            if (role == WeightRole::kLayerLinear) {
                return precision == Precision::kInt8 ? ElementType::kInt8 : ElementType::kInt4;
            }
            return stored == ElementType::kFloat32 ? ElementType::kFloat16 : stored;
        case Precision::kAuto:
            break;
    }
    return stored;
}

}  // namespace

Result<HostTensor> required_tensor(const Checkpoint& checkpoint, const std::string& name,
                                   const std::vector<std::int64_t>& shape,
                                   std::initializer_list<DataType> types) {
    const TensorInfo* info = checkpoint.find(name);
    if (info == nullptr) {
        return failure(
            StatusKind::kBadFile,
            fmt::format("{} lacks tensor {}; the download is incomplete or the folder holds another "
                        "kind of model.",
                        names_of_files(checkpoint), name),
            fmt::format("{}, {} tensors", checkpoint.format(), checkpoint.tensors().size()));
    }
    if (info->shape != shape) {
        return failure(
            StatusKind::kBadFile,
            fmt::format("Tensor {} in {} has shape [{}] where config.json asks for [{}]; weights and config "
                        "belong to different models.",
                        name, info->file_name, fmt::join(info->shape, ", "), fmt::join(shape, ", ")));
    }
    if (std::find(types.begin(), types.end(), info->type) == types.end()) {
        return failure(
            StatusKind::kBadFile,
            fmt::format("Tensor {} in {} is {} where {} is expected; take weights and config.json, with its "
                        "quantization_bit, from the same model.",
                        name, info->file_name, data_type_name(info->type), names_of(types)));
    }
    return checkpoint.tensor(name);
}

Result<LinearWeight> plain_weight(const Checkpoint& checkpoint, const std::string& name, std::int64_t rows,
                                  std::int64_t cols) {
    std::vector<std::int64_t> shape{rows};
    if (cols != 1) shape.push_back(cols);
    const Result<HostTensor> tensor = required_tensor(
        checkpoint, name, shape, {DataType::kFloat16, DataType::kBFloat16, DataType::kFloat32});
    if (!tensor) return tl::unexpected(tensor.error());
    LinearWeight weight;
    weight.type = element_type(tensor->info.type);
    weight.data = tensor->bytes.data();
    weight.out_features = rows;
    weight.in_features = cols;
    weight.owner = tensor->owner;
    return weight;
}

Result<CheckpointWeights> CheckpointWeights::create(const Checkpoint& checkpoint, const ModelConfig& config,
                                                    Precision precision) {
    const bool asks_int8 = precision == Precision::kInt8;
    const bool asks_int4 = precision == Precision::kInt4;
    const bool contradicts =
        (config.quantization_bit == 4 && asks_int8) || (config.quantization_bit == 8 && asks_int4);
    if (contradicts) {
        return failure(
            StatusKind::kUnsupported,
            fmt::format("This checkpoint is already quantised to int{}, {} cannot be made from it; choose "
                        "precision auto, or the unquantised checkpoint.",
                        config.quantization_bit, precision_name(precision)));
    }
    return CheckpointWeights(checkpoint, config.quantization_bit, precision);
}

Result<LinearWeight> CheckpointWeights::host_weight(const WeightSlot& slot) {
    if (quantization_bit_ != 0 && slot.role == WeightRole::kLayerLinear)
        return official_quantized_weight(slot);
    const Result<LinearWeight> stored = plain_weight(*checkpoint_, slot.name, slot.rows, slot.cols);
    if (!stored) return stored;
    const std::string what =
        fmt::format("Tensor {} in {}", slot.name, checkpoint_->find(slot.name)->file_name);
    return convert_weight(*stored, target_type(slot.role, stored->type, precision_), what);
}

Result<LinearWeight> CheckpointWeights::official_quantized_weight(const WeightSlot& slot) const {
    const bool packs_nibbles = quantization_bit_ == 4;
    const std::int64_t stored_cols = packs_nibbles ? slot.cols / 2 : slot.cols;
    const Result<HostTensor> elements =
        required_tensor(*checkpoint_, slot.name, {slot.rows, stored_cols}, {DataType::kInt8});
    if (!elements) return tl::unexpected(elements.error());
    const Result<HostTensor> scales = required_tensor(*checkpoint_, slot.name + "_scale", {slot.rows},
                                                      {DataType::kFloat16, DataType::kFloat32});
    if (!scales) return tl::unexpected(scales.error());

    LinearWeight weight;
    weight.type = packs_nibbles ? ElementType::kInt4 : ElementType::kInt8;
    weight.data = elements->bytes.data();
    weight.out_features = slot.rows;
    weight.in_features = slot.cols;
    weight.scale_layout = ScaleLayout::kPerRow;
    weight.scale_type = element_type(scales->info.type);
    weight.scales = scales->bytes.data();
    weight.owner =
        std::make_shared<const std::pair<std::shared_ptr<const void>, std::shared_ptr<const void>>>(
            elements->owner, scales->owner);
    return weight;
}

}  // namespace glmchat
