#include "engine/loader/state_dict.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "engine/loader/message.h"

namespace glmchat {
namespace {

using Kind = PickleValue::Kind;
using Role = PickleName::Role;

constexpr std::size_t kMostDimensions = 16;
constexpr std::size_t kLongestName = 512;
constexpr std::string_view kUseStateDict = "use a file that torch.save wrote from a model's state_dict";

/// One argument of a recorded call, or null when it is missing or of another kind.
const PickleValue* item(const Pickle& pickle, const PickleValue& tuple, std::size_t index, Kind kind) {
    if (index >= tuple.items.size()) return nullptr;
    const PickleValue& value = pickle[tuple.items[index]];
    return value.kind == kind ? &value : nullptr;
}

std::optional<std::vector<std::int64_t>> read_counts(const Pickle& pickle, const PickleValue& tuple) {
    if (tuple.items.size() > kMostDimensions) return std::nullopt;
    std::vector<std::int64_t> counts;
    for (const PickleRef ref : tuple.items) {
        if (pickle[ref].kind != Kind::kInt) return std::nullopt;
        counts.push_back(pickle[ref].number);
    }
    return counts;
}

/// The arguments of the _rebuild_tensor_v2 call that `value` is or, as a parameter, wraps; null for anything
/// else.
const PickleValue* tensor_arguments(const Pickle& pickle, const PickleValue& value) {
    if (value.kind != Kind::kCall) return nullptr;
    const PickleValue& arguments = pickle[value.items[0]];
    if (value.name->role == Role::kRebuildTensor) return &arguments;
    const PickleValue* wrapped = item(pickle, arguments, 0, Kind::kCall);
    if (wrapped == nullptr || wrapped->name->role != Role::kRebuildTensor) return nullptr;
    return &pickle[wrapped->items[0]];
}

/// _rebuild_tensor_v2(storage, storage_offset, size, stride, requires_grad, backward_hooks): the last two
/// mean nothing here.
Result<StoredTensor> read_tensor(const Pickle& pickle, std::string_view name, const PickleValue& value,
                                 const FindStorage& find_storage, std::string_view file_name) {
    const auto refuse = [&](std::string_view finding, std::string_view remedy) {
        return bad_file(file_name, fmt::format("its entry {} {}", in_quotes(name), finding), remedy);
    };
    const PickleValue* arguments = tensor_arguments(pickle, value);
    if (arguments == nullptr) return refuse("is not a tensor", kUseStateDict);
    const PickleValue* id = item(pickle, *arguments, 0, Kind::kPersistentId);
    const PickleValue* offset = item(pickle, *arguments, 1, Kind::kInt);
    const PickleValue* size = item(pickle, *arguments, 2, Kind::kTuple);
    const PickleValue* stride = item(pickle, *arguments, 3, Kind::kTuple);
    const auto storage = id == nullptr ? std::nullopt : read_storage_id(pickle, *id);
    auto shape = size == nullptr ? std::nullopt : read_counts(pickle, *size);
    auto strides = stride == nullptr ? std::nullopt : read_counts(pickle, *stride);
    if (!storage || offset == nullptr || !shape || !strides || name.size() > kLongestName) {
        return refuse("is no well-formed tensor", kDownloadAgain);
    }
    const auto bytes = find_storage(*storage);
    if (!bytes) return tl::unexpected(bytes.error());
    StoredTensor tensor{{std::string(name), storage->type, std::move(*shape), std::string(file_name)},
                        std::move(*strides),
                        offset->number,
                        *bytes};
    if (const auto checked = check_tensor(tensor); !checked) return tl::unexpected(checked.error());
    return tensor;
}

/// The dictionary of tensors: the root itself, or what lies under its key "state_dict".
const PickleValue& innermost_dict(const Pickle& pickle) {
    const PickleValue& root = pickle.root_value();
    for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
        const PickleValue& key = pickle[root.items[i]];
        const PickleValue& value = pickle[root.items[i + 1]];
        if (key.kind == Kind::kString && key.text == "state_dict" && value.kind == Kind::kDict) return value;
    }
    return root;
}

}  // namespace

/// ('storage', type, key, location, num_elements), in the legacy format followed by None: parts of storages
/// ("views") went out of use before the models this program knows.
std::optional<PickledStorage> read_storage_id(const Pickle& pickle, const PickleValue& value) {
    const PickleValue* id = item(pickle, value, 0, Kind::kTuple);
    if (id == nullptr) return std::nullopt;
    const PickleValue* tag = item(pickle, *id, 0, Kind::kString);
    const PickleValue* type = item(pickle, *id, 1, Kind::kName);
    const PickleValue* key = item(pickle, *id, 2, Kind::kString);
    const PickleValue* num_elements = item(pickle, *id, 4, Kind::kInt);
    if (tag == nullptr || type == nullptr || key == nullptr || num_elements == nullptr) return std::nullopt;
    const bool whole =
        id->items.size() == 5 || (id->items.size() == 6 && item(pickle, *id, 5, Kind::kNone) != nullptr);
    if (!whole || tag->text != "storage" || type->name->role != Role::kStorage || num_elements->number < 0) {
        return std::nullopt;
    }
    return PickledStorage{key->text, type->name->type, num_elements->number};
}

Result<std::vector<StoredTensor>> read_state_dict(const Pickle& pickle, const FindStorage& find_storage,
                                                  std::string_view file_name) {
    if (pickle.root_value().kind != Kind::kDict) {
        return bad_file(file_name, "it holds no dictionary of tensors", kUseStateDict);
    }
    const PickleValue& dict = innermost_dict(pickle);
    std::vector<StoredTensor> tensors;
    for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
        const PickleValue& key = pickle[dict.items[i]];
        if (key.kind != Kind::kString) {
            return bad_file(file_name, "it holds a tensor without a name", kUseStateDict);
        }
        auto tensor = read_tensor(pickle, key.text, pickle[dict.items[i + 1]], find_storage, file_name);
        if (!tensor) return tl::unexpected(std::move(tensor.error()));
        tensors.push_back(std::move(*tensor));
    }
    return tensors;
}

}  // namespace glmchat
