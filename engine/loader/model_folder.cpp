#include "engine/loader/model_folder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/loader/checkpoint.h"
#include "engine/loader/foreign_format.h"
#include "engine/loader/json_text.h"
#include "engine/loader/message.h"

namespace glmchat {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostIndexBytes = std::size_t{4} << 20U;
constexpr std::string_view kDownloadShard = "download it into the model folder";

/// The names Hugging Face's save_pretrained gives to the files of one format.
struct Naming {
    std::string_view stem;
    std::string_view extension;
};
constexpr std::array<Naming, 2> kNamings{{{"model", ".safetensors"}, {"pytorch_model", ".bin"}}};

/// nullopt: the folder does not begin this kind of set.
using Candidate = Result<std::optional<WeightSet>>;

fs::path path_from_utf8(std::string_view text) {
    return {std::u8string(text.begin(), text.end())};
}

std::string utf8_name(const fs::path& path) {
    const std::u8string name = path.filename().u8string();
    return {name.begin(), name.end()};
}

bool is_there(const fs::path& path) {
    std::error_code unreadable;  // counts as missing; opening it says why
    return fs::exists(path, unreadable);
}

/// A shard name from an index must stay inside the folder.
bool is_plain_file_name(std::string_view name) {
    return !name.empty() && name != "." && name != ".." &&
           name.find_first_of(std::string_view("/\\:\0", 4)) == std::string_view::npos;
}

Result<std::map<std::string, std::string>> read_weight_map(const fs::path& index_path) {
    auto file = MappedFile::open(index_path);
    if (!file) return tl::unexpected(std::move(file.error()));
    const std::string file_name = display_name(index_path);
    if (auto own = refuse_foreign_format((*file)->text(), file_name); !own) {
        return tl::unexpected(std::move(own.error()));
    }
    const auto index = parse_json_object((*file)->text(), file_name, kMostIndexBytes);
    if (!index) return tl::unexpected(index.error());
    const auto map = index->find("weight_map");
    if (map == index->end() || !map->is_object() || map->empty()) {
        return bad_file(file_name, "the index has no weight_map");
    }
    std::map<std::string, std::string> weight_map;
    for (const auto& [tensor, shard] : map->items()) {
        if (!shard.is_string() || !is_plain_file_name(shard.get_ref<const std::string&>())) {
            return bad_file(file_name, fmt::format("the index gives no plain file name for tensor {}",
                                                   in_quotes(tensor)));
        }
        weight_map.emplace(tensor, shard.get<std::string>());
    }
    return weight_map;
}

Candidate set_from_index(const fs::path& folder, const Naming& naming) {
    const std::string index_name = fmt::format("{}{}.index.json", naming.stem, naming.extension);
    if (!is_there(folder / index_name)) return std::nullopt;
    auto weight_map = read_weight_map(folder / index_name);
    if (!weight_map) return tl::unexpected(std::move(weight_map.error()));
    std::set<std::string> shards;
    for (const auto& entry : *weight_map) shards.insert(entry.second);
    WeightSet set{{}, std::move(*weight_map), index_name};
    for (const std::string& shard : shards) {
        set.files.push_back(folder / path_from_utf8(shard));
        if (is_there(set.files.back())) continue;
        return refuse_file(StatusKind::kNotFound, printable(shard),
                           fmt::format("this shard is missing, though {} names it", index_name),
                           kDownloadShard);
    }
    return set;
}

Candidate set_of_single_file(const fs::path& folder, const Naming& naming) {
    const fs::path file = folder / fmt::format("{}{}", naming.stem, naming.extension);
    if (!is_there(file)) return std::nullopt;
    return WeightSet{{file}, {}, {}};
}

std::string shard_name(const Naming& naming, int number, int count) {
    return fmt::format("{}-{:05}-of-{:05}{}", naming.stem, number, count, naming.extension);
}

/// N of "<stem>-00001-of-0000N<extension>", whichever shard the name is; nullopt for other names.
std::optional<int> shard_count_in(std::string_view name, const Naming& naming) {
    const std::size_t size = shard_name(naming, 0, 0).size();
    if (name.size() != size) return std::nullopt;
    const std::string_view number = name.substr(naming.stem.size() + 1, 5);
    const std::string_view count = name.substr(size - naming.extension.size() - 5, 5);
    const auto digits = [](std::string_view text) {
        return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
    };
    if (!digits(number) || !digits(count)) return std::nullopt;
    const int shards = std::stoi(std::string(count));
    return name == shard_name(naming, std::stoi(std::string(number)), shards) ? std::optional(shards)
                                                                              : std::nullopt;
}

Candidate set_from_numbered_names(const fs::path& folder, const Naming& naming) {
    std::set<int> counts;
    std::error_code ended;  // a folder that cannot be listed has no files for us
    for (fs::directory_iterator entry(folder, ended), end; !ended && entry != end; entry.increment(ended)) {
        if (const auto count = shard_count_in(utf8_name(entry->path()), naming)) counts.insert(*count);
    }
    std::string missing;
    for (const int count : counts) {
        WeightSet set;
        for (int number = 1; number <= count; ++number) {
            const std::string name = shard_name(naming, number, count);
            set.files.push_back(folder / name);
            if (is_there(set.files.back())) continue;
            if (missing.empty()) missing = name;
            set.files.clear();
            break;
        }
        if (!set.files.empty()) return set;
    }
    if (missing.empty()) return std::nullopt;
    return refuse_file(StatusKind::kNotFound, missing,
                       "this shard is missing, though others of its set are there", kDownloadShard);
}

/// Names what the folder holds instead of weights, so that the remedy fits.
tl::unexpected<Status> no_weights(const fs::path& folder) {
    std::error_code ended;
    for (fs::directory_iterator entry(folder, ended), end; !ended && entry != end; entry.increment(ended)) {
        const std::string extension = utf8_name(entry->path().extension());
        if (extension == ".gguf" || extension == ".ggml") {
            return refuse_file(
                StatusKind::kUnsupported, display_name(entry->path()), "this is a GGUF or GGML file",
                "choose a folder in the official layout (config.json with .safetensors or .bin)");
        }
    }
    return refuse_file(StatusKind::kNotFound, display_name(folder),
                       "this folder has no weights (neither model*.safetensors nor pytorch_model*.bin)",
                       "choose the folder that holds them, or download them into it");
}

}  // namespace

Result<WeightSets> find_weight_sets(const fs::path& folder) {
    if (!is_there(folder)) {
        return refuse_file(StatusKind::kNotFound, display_name(folder), "there is no such folder",
                           "choose the model's folder");
    }
    std::error_code unreadable;
    if (!fs::is_directory(folder, unreadable)) {
        return refuse_file(StatusKind::kInvalidArgument, display_name(folder), "this is a file",
                           "choose the folder it lies in");
    }
    WeightSets sets;
    for (const Naming& naming : kNamings) {
        for (const auto find : {set_from_index, set_of_single_file, set_from_numbered_names}) {
            auto candidate = find(folder, naming);
            if (!candidate) {
                sets.incomplete.push_back(std::move(candidate.error()));
            } else if (candidate->has_value()) {
                sets.complete.push_back(std::move(**candidate));
            }
        }
    }
    if (sets.complete.empty() && sets.incomplete.empty()) return no_weights(folder);
    return sets;
}

}  // namespace glmchat
