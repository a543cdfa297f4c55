#include <cmath>
#include <cstring>
#include <limits>

#include "tests/engine/loader/all_checks.h"
#include "tests/engine/loader/loader_test_support.h"
#include "tests/support/conformance_kit.h"
#include "tests/support/npy.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/loader/model_config.h"
#include "kernels/half.h"

// The loader against the conformance kit: files that the official library wrote.

namespace glmchat::test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

template <typename T>
T element(const std::byte* at) {
    T value;
    std::memcpy(&value, at, sizeof(T));
    return value;
}

/// Exact: every type here fits float64.
double element(DataType type, const std::byte* at) {
    switch (type) {
        case DataType::kFloat64:
            return element<double>(at);
        case DataType::kFloat32:
            return element<float>(at);
        case DataType::kInt64:
            return static_cast<double>(element<std::int64_t>(at));
        case DataType::kInt32:
            return element<std::int32_t>(at);
        case DataType::kInt16:
            return element<std::int16_t>(at);
        case DataType::kInt8:
            return element<std::int8_t>(at);
        case DataType::kUInt8:
        case DataType::kBool:
            return element<std::uint8_t>(at);
        case DataType::kFloat16:
            return kernels::half_to_float(element<std::uint16_t>(at));
        case DataType::kBFloat16:
            return kernels::bfloat16_to_float(element<std::uint16_t>(at));
    }
    return std::numeric_limits<double>::quiet_NaN();
}

CheckResult check_tensor_values(const HostTensor& tensor, const std::vector<double>& expected) {
    const std::size_t size = data_type_bytes(tensor.info.type);
    if (tensor.bytes.size() != expected.size() * size) {
        return failed(tensor.info.name + ": number of elements");
    }
    for (std::size_t i = 0; i < expected.size(); ++i) {
        const double got = element(tensor.info.type, tensor.bytes.data() + i * size);
        if (got != expected[i]) {
            return failed(fmt::format("{}[{}] is {} instead of {}", tensor.info.name, i, got, expected[i]));
        }
    }
    return passed();
}

json facts_of(const fs::path& kit) {
    return json::parse(read_file(kit / "loader" / "loader.json"));
}

CheckResult check_odd_files(const fs::path& kit) {
    const json facts = facts_of(kit);
    for (const auto& file : facts["odd_files"]) {
        const auto checkpoint = Checkpoint::open_file(kit / "loader" / file.get<std::string>());
        if (!checkpoint) return failed(checkpoint.error().message);
        if (checkpoint->tensors().size() != facts["tensors"].size()) {
            return failed(fmt::format("{} tensors", checkpoint->tensors().size()));
        }
        for (const auto& [name, expected] : facts["tensors"].items()) {
            const auto tensor = checkpoint->tensor(name);
            if (!tensor) return failed(tensor.error().message);
            if (data_type_name(tensor->info.type) != expected["dtype"]) return failed(name + ": dtype");
            if (json(tensor->info.shape) != expected["shape"]) return failed(name + ": shape");
            const auto values =
                read_npy(kit / "loader" / "expected" / expected["file"].get<std::string>()).values;
            auto equal = check_tensor_values(*tensor, values);
            if (equal.outcome != CheckResult::Outcome::kPassed) return equal;
        }
    }
    return passed(
        fmt::format("{} files, {} tensors each", facts["odd_files"].size(), facts["tensors"].size()));
}

CheckResult check_rejected_files(const fs::path& kit) {
    const json facts = facts_of(kit);
    for (const auto& [file, why] : facts["must_reject"].items()) {
        const auto checkpoint = Checkpoint::open_file(kit / "loader" / file);
        const StatusKind kind =
            file == "bad_unknown_dtype.safetensors" ? StatusKind::kUnsupported : StatusKind::kBadFile;
        auto refused = expect_refused(checkpoint, kind, file, "");
        if (refused.outcome != CheckResult::Outcome::kPassed) return failed(file + ": " + refused.message);
    }
    return passed(fmt::format("{} files", facts["must_reject"].size()));
}

void flatten(const json& list, std::vector<double>& values) {
    for (const json& item : list) {
        if (item.is_array()) {
            flatten(item, values);
        } else {
            values.push_back(item.get<double>());
        }
    }
}

CheckResult check_accepted_files(const fs::path& kit) {
    const json facts = facts_of(kit);
    for (const auto& [file, tensors] : facts["must_accept"].items()) {
        const auto checkpoint = Checkpoint::open_file(kit / "loader" / file);
        if (!checkpoint) return failed(checkpoint.error().message);
        for (const auto& [name, expected] : tensors.items()) {
            const auto tensor = checkpoint->tensor(name);
            if (!tensor) return failed(tensor.error().message);
            std::vector<double> values;
            flatten(expected, values);
            auto equal = check_tensor_values(*tensor, values);
            if (equal.outcome != CheckResult::Outcome::kPassed) return equal;
        }
    }
    return passed(fmt::format("{} file", facts["must_accept"].size()));
}

CheckResult check_nested_file(const fs::path& kit) {
    const auto checkpoint =
        Checkpoint::open_file(kit / "loader" / facts_of(kit)["nested"]["file"].get<std::string>());
    if (!checkpoint) return failed(checkpoint.error().message);
    const auto tensor = checkpoint->tensor("w");
    return tensor ? check_tensor_values(*tensor, {1.0, 1.0}) : failed(tensor.error().message);
}

/// The layouts of one model hold the same tensors, bit by bit.
CheckResult check_layouts_agree(const fs::path& model) {
    const auto first = Checkpoint::open_folder(model / "hf-safetensors");
    if (!first) return failed(first.error().message);
    int num_compared = 0;
    for (const char* layout : {"hf-bin", "hf-legacy"}) {
        if (!fs::exists(model / layout)) continue;
        const auto other = Checkpoint::open_folder(model / layout);
        if (!other) return failed(other.error().message);
        if (other->tensors().size() != first->tensors().size()) {
            return failed(fmt::format("{}: {} tensors", layout, other->tensors().size()));
        }
        for (const TensorInfo& info : first->tensors()) {
            const auto a = first->tensor(info.name);
            const auto b = other->tensor(info.name);
            if (!a || !b) return failed(info.name + " is missing");
            if (b->info.shape != info.shape || b->info.type != info.type || hex(a->bytes) != hex(b->bytes)) {
                return failed(fmt::format("{} differs in {}", info.name, layout));
            }
            ++num_compared;
        }
    }
    return passed(fmt::format("{} tensors", num_compared));
}

/// Every checkpoint folder of the kit opens.
CheckResult check_all_folders(const fs::path& kit) {
    int num_folders = 0;
    for (const auto& model : fs::directory_iterator(kit / "models")) {
        for (const auto& folder : fs::directory_iterator(model)) {
            if (!fs::exists(folder.path() / "config.json")) continue;
            const auto checkpoint = Checkpoint::open_folder(folder);
            if (!checkpoint) return failed(checkpoint.error().message);
            for (const TensorInfo& info : checkpoint->tensors()) {
                if (!checkpoint->tensor(info.name)) return failed(info.name);
            }
            ++num_folders;
        }
    }
    return passed(fmt::format("{} folders", num_folders));
}

struct ConfigFacts {
    const char* folder;
    const char* family;  ///< in the refusal; null: ChatGLM2, accepted
    std::int32_t num_layers = 0;
    float rotary_position_divisor = 1.0F;
    std::int32_t quantization_bit = 0;
    std::int32_t pre_seq_len = 0;
    bool prefix_projection = false;
};

constexpr ConfigFacts kConfigs[] = {
    {"models/chatglm2-tiny/hf-bin", nullptr, 4},
    {"models/chatglm2-tiny-vocab65024/hf-safetensors", nullptr, 2},
    {"models/chatglm2-tiny-int4/hf-bin", nullptr, 4, 1.0F, 4},
    {"models/chatglm2-tiny-int8/hf-bin", nullptr, 4, 1.0F, 8},
    {"models/chatglm2-32k-tiny/hf-bin", nullptr, 3, 4.0F},
    {"models/chatglm2-tiny-ptuning/ptuning-checkpoint", nullptr, 4, 1.0F, 0, 8},
    {"models/chatglm2-tiny-ptuning-projection/ptuning-checkpoint", nullptr, 4, 1.0F, 0, 6, true},
    {"official-metadata/chatglm2-6b", nullptr, 28},
    {"official-metadata/chatglm2-6b-int4", nullptr, 28, 1.0F, 4},
    {"models/chatglm1-tiny/hf-bin", "this is ChatGLM-6B (the first version)"},
    {"official-metadata/chatglm-6b", "this is ChatGLM-6B (the first version)"},
    {"models/chatglm3-tiny/hf-bin", "this is ChatGLM3,"},
    {"models/chatglm3-32k-tiny/hf-safetensors", "this is ChatGLM3,"},
    {"official-metadata/chatglm3-6b", "this is ChatGLM3,"},
    {"official-metadata/chatglm3-6b-32k", "this is ChatGLM3,"},
    {"models/glm4-tiny/hf-safetensors", "this is GLM-4,"},
    {"official-metadata/glm-4-9b-chat", "this is GLM-4,"},
};

CheckResult check_config(const fs::path& kit, const ConfigFacts& facts) {
    const auto config = read_model_config(kit / facts.folder);
    if (facts.family != nullptr) {
        return expect_refused(config, StatusKind::kUnsupported, "config.json", facts.family);
    }
    if (!config) return failed(config.error().message);
    const bool equal =
        config->num_layers == facts.num_layers &&
        config->rotary_position_divisor == facts.rotary_position_divisor &&
        config->quantization_bit == facts.quantization_bit && config->pre_seq_len == facts.pre_seq_len &&
        config->prefix_projection == facts.prefix_projection && config->rotary_base == 10000.0F;
    return equal ? passed() : failed("a value differs");
}

/// The same config.json after save_pretrained has overwritten the name: the numbers must decide as the name
/// did, or refuse.
CheckResult check_config_without_name(const fs::path& kit, const ConfigFacts& facts) {
    json text = json::parse(read_file(kit / facts.folder / "config.json"));
    text["_name_or_path"] = "output/checkpoint-3000";
    const auto config = parse_model_config(text.dump(), "config.json");
    const bool chatglm2_32k = facts.rotary_position_divisor != 1.0F;  // cannot be told from ChatGLM3-32k
    if (facts.family != nullptr || chatglm2_32k) {
        return expect_refused(config, StatusKind::kUnsupported, "config.json", "");
    }
    return config ? passed() : failed(config.error().message);
}

/// An official index whose shards were not downloaded: the first missing one is named.
CheckResult check_official_index(const fs::path& kit) {
    return expect_refused(Checkpoint::open_folder(kit / "official-metadata" / "chatglm2-6b"),
                          StatusKind::kNotFound, "pytorch_model-00001-of-00007.bin",
                          "pytorch_model.bin.index.json names it");
}

Check with_kit(std::string name, std::function<CheckResult(const fs::path&)> check) {
    return {"kit/" + std::move(name), [check = std::move(check)] {
                const auto kit = conformance_kit();
                return kit ? check(*kit) : skipped(kKitMissing);
            }};
}

}  // namespace

std::vector<Check> kit_checks() {
    std::vector<Check> checks{
        with_kit("odd_files", check_odd_files),        with_kit("must_reject", check_rejected_files),
        with_kit("must_accept", check_accepted_files), with_kit("nested_state_dict", check_nested_file),
        with_kit("all_folders", check_all_folders),    with_kit("official_index", check_official_index)};
    for (const char* model : {"chatglm1-tiny", "chatglm2-tiny", "chatglm3-tiny"}) {
        checks.push_back(with_kit(fmt::format("layouts_agree/{}", model), [model](const fs::path& kit) {
            return check_layouts_agree(kit / "models" / model);
        }));
    }
    for (const ConfigFacts& facts : kConfigs) {
        checks.push_back(with_kit(fmt::format("config/{}", facts.folder),
                                  [&facts](const fs::path& kit) { return check_config(kit, facts); }));
        const bool tiny =
            std::string_view(facts.folder).find("tiny") != std::string_view::npos;  // tiny shapes say nothing
        if (!tiny) {
            checks.push_back(
                with_kit(fmt::format("config_without_name/{}", facts.folder),
                         [&facts](const fs::path& kit) { return check_config_without_name(kit, facts); }));
        }
    }
    return checks;
}

}  // namespace glmchat::test
