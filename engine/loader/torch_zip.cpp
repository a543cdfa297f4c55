#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "engine/loader/message.h"
#include "engine/loader/pickle.h"
#include "engine/loader/state_dict.h"
#include "engine/loader/torch_file.h"
#include "engine/loader/zip_archive.h"

namespace glmchat {
namespace {

constexpr std::string_view kPickleName = "data.pkl";

/// The archive's entries below its root folder, named without it.
struct TorchArchive {
    std::span<const std::byte> pickle;
    std::unordered_map<std::string_view, std::span<const std::byte>> entries;
};

Result<TorchArchive> open_archive(std::span<const std::byte> file, std::string_view file_name) {
    const auto entries = read_zip_archive(file, file_name);
    if (!entries) return tl::unexpected(entries.error());
    const auto is_pickle = [](const ZipEntry& entry) {
        return entry.name == kPickleName || entry.name.ends_with("/data.pkl");
    };
    if (std::ranges::count_if(*entries, is_pickle) != 1) {
        return bad_file(file_name,
                        "this zip archive was not written by torch.save (it has no single data.pkl)",
                        "use the model's original weight file");
    }
    const ZipEntry& pickle = *std::ranges::find_if(*entries, is_pickle);
    const std::string_view root = pickle.name.substr(0, pickle.name.size() - kPickleName.size());
    TorchArchive archive{pickle.data, {}};
    for (const ZipEntry& entry : *entries) {
        if (entry.name.starts_with(root)) archive.entries.emplace(entry.name.substr(root.size()), entry.data);
    }
    return archive;
}

bool is_big_endian(const TorchArchive& archive) {
    const auto order = archive.entries.find("byteorder");
    if (order == archive.entries.end()) return false;
    return std::string_view(reinterpret_cast<const char*>(order->second.data()), order->second.size())
        .starts_with("big");
}

}  // namespace

Result<std::vector<StoredTensor>> read_torch_zip(std::span<const std::byte> file,
                                                 std::string_view file_name) {
    const auto archive = open_archive(file, file_name);
    if (!archive) return tl::unexpected(archive.error());
    if (is_big_endian(*archive)) {
        return refuse_file(StatusKind::kUnsupported, file_name, "it was written on a big-endian machine",
                           "use the official download");
    }
    const auto pickle = read_pickle(archive->pickle, file_name);
    if (!pickle) return tl::unexpected(pickle.error());

    std::string entry_name;  // kept between calls, so that looking up costs no allocation
    const auto find_storage = [&](const PickledStorage& storage) -> Result<std::span<const std::byte>> {
        entry_name.assign("data/").append(storage.key);
        const auto entry = archive->entries.find(entry_name);
        if (entry == archive->entries.end()) {
            return bad_file(file_name,
                            fmt::format("its data for storage {} is missing", in_quotes(storage.key)));
        }
        const auto bytes =
            checked_multiply(static_cast<std::size_t>(storage.num_elements), data_type_bytes(storage.type));
        if (bytes != entry->second.size()) {
            return bad_file(
                file_name, fmt::format("its data for storage {} has the wrong size", in_quotes(storage.key)));
        }
        return entry->second;
    };
    return read_state_dict(*pickle, find_storage, file_name);
}

}  // namespace glmchat
