#include "engine/loader/checkpoint.h"

#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "engine/loader/message.h"
#include "engine/loader/model_folder.h"
#include "engine/loader/stored_tensor.h"
#include "engine/loader/weight_file.h"

namespace glmchat {

struct Checkpoint::Impl {
    std::vector<WeightFile> files;
    std::vector<TensorInfo> tensors;

    struct Place {
        std::size_t index;  ///< in `tensors`
        const StoredTensor* tensor;
        const WeightFile* file;
    };
    std::unordered_map<std::string_view, Place> places;  ///< by tensor name; the keys lie in `files`
};

namespace {

/// Fills `tensors` and `places` from `files`.
Result<void> index_tensors(Checkpoint::Impl& impl) {
    for (const WeightFile& file : impl.files) {
        for (const StoredTensor& tensor : file.tensors) {
            const auto [place, added] = impl.places.try_emplace(
                tensor.info.name, Checkpoint::Impl::Place{impl.tensors.size(), &tensor, &file});
            if (!added) {
                return bad_file(
                    tensor.info.file_name,
                    fmt::format("tensor {} is stored a second time (also in {})", in_quotes(tensor.info.name),
                                place->second.tensor->info.file_name),
                    "remove files of another download from the folder, or download the model again");
            }
            impl.tensors.push_back(tensor.info);
        }
    }
    return {};
}

Result<void> check_against_index(const Checkpoint::Impl& impl, const WeightSet& set) {
    for (const auto& [tensor, shard] : set.weight_map) {
        const auto place = impl.places.find(tensor);
        if (place != impl.places.end() && place->second.tensor->info.file_name == printable(shard)) continue;
        return bad_file(
            printable(shard),
            fmt::format("tensor {} is not in it, though {} says so", in_quotes(tensor), set.index_name),
            "download both files again");
    }
    return {};
}

Result<std::unique_ptr<Checkpoint::Impl>> open_set(const WeightSet& set) {
    auto impl = std::make_unique<Checkpoint::Impl>();
    for (const std::filesystem::path& path : set.files) {
        auto file = open_weight_file(path);
        if (!file) return tl::unexpected(std::move(file.error()));
        impl->files.push_back(std::move(*file));
    }
    if (auto indexed = index_tensors(*impl); !indexed) return tl::unexpected(std::move(indexed.error()));
    if (auto agreed = check_against_index(*impl, set); !agreed) {
        return tl::unexpected(std::move(agreed.error()));
    }
    return impl;
}

}  // namespace

Result<Checkpoint> Checkpoint::open_folder(const std::filesystem::path& folder) {
    auto sets = find_weight_sets(folder);
    if (!sets) return tl::unexpected(std::move(sets.error()));
    std::vector<Status> refusals;
    for (const WeightSet& set : sets->complete) {
        auto impl = open_set(set);
        if (impl) return Checkpoint(std::move(*impl));
        refusals.push_back(std::move(impl.error()));
    }
    // A set that is all there but damaged tells more than one that was never finished.
    return tl::unexpected(refusals.empty() ? sets->incomplete.front() : refusals.front());
}

Result<Checkpoint> Checkpoint::open_file(const std::filesystem::path& file) {
    auto impl = open_set({{file}, {}, {}});
    if (!impl) return tl::unexpected(std::move(impl.error()));
    return Checkpoint(std::move(*impl));
}

Checkpoint::Checkpoint(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Checkpoint::Checkpoint(Checkpoint&&) noexcept = default;
Checkpoint& Checkpoint::operator=(Checkpoint&&) noexcept = default;
Checkpoint::~Checkpoint() = default;

const std::vector<TensorInfo>& Checkpoint::tensors() const {
    return impl_->tensors;
}

const TensorInfo* Checkpoint::find(std::string_view name) const {
    const auto place = impl_->places.find(name);
    return place == impl_->places.end() ? nullptr : &impl_->tensors[place->second.index];
}

Result<HostTensor> Checkpoint::tensor(std::string_view name) const {
    const auto place = impl_->places.find(name);
    if (place == impl_->places.end()) {
        const std::string file_name = impl_->files.size() == 1
                                          ? display_name(impl_->files[0].file->path())
                                          : display_name(impl_->files[0].file->path().parent_path());
        return refuse_file(StatusKind::kNotFound, file_name,
                           fmt::format("tensor {} is not in these weights", in_quotes(name)),
                           "choose a complete checkpoint of a supported model");
    }
    return load_tensor(*place->second.tensor, place->second.file->file);
}

std::string Checkpoint::format() const {
    return impl_->files[0].format;
}

std::size_t Checkpoint::total_bytes() const {
    std::size_t bytes = 0;
    for (const TensorInfo& info : impl_->tensors) {
        bytes += static_cast<std::size_t>(info.num_elements()) * data_type_bytes(info.type);
    }
    return bytes;
}

}  // namespace glmchat
