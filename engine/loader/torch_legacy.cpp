#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "engine/loader/message.h"
#include "engine/loader/pickle.h"
#include "engine/loader/state_dict.h"
#include "engine/loader/torch_file.h"

namespace glmchat {
namespace {

using Kind = PickleValue::Kind;

/// 0x1950a86a20f9469cfc6c, little-endian.
constexpr std::string_view kMagicNumber("\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19", 10);
constexpr std::int64_t kProtocolVersion = 1001;

bool says_big_endian(const Pickle& facts) {
    const PickleValue& root = facts.root_value();
    for (std::size_t i = 0; root.kind == Kind::kDict && i + 1 < root.items.size(); i += 2) {
        const PickleValue& value = facts[root.items[i + 1]];
        if (facts[root.items[i]].text == "little_endian" && value.kind == Kind::kBool) {
            return value.number == 0;
        }
    }
    return false;
}

/// Reads the parts of a legacy file one after the other.
class LegacyReader {
  public:
    LegacyReader(std::span<const std::byte> file, std::string_view file_name)
        : rest_(file), file_name_(file_name) {}

    Result<Pickle> next_pickle() {
        auto pickle = read_pickle(rest_, file_name_);
        if (pickle) rest_ = rest_.subspan(pickle->num_bytes);
        return pickle;
    }

    Result<void> skip_preamble() {
        const auto magic = next_pickle();
        if (!magic) return tl::unexpected(magic.error());
        if (magic->root_value().text != kMagicNumber) {
            return bad_file(file_name_, "it is a pickle, but torch.save did not write it",
                            "use the model's original weight file");
        }
        const auto protocol = next_pickle();
        if (!protocol) return tl::unexpected(protocol.error());
        if (protocol->root_value().number != kProtocolVersion) {
            return bad_file(file_name_, "its torch.save protocol is not 1001");
        }
        const auto facts = next_pickle();
        if (!facts) return tl::unexpected(facts.error());
        if (says_big_endian(*facts)) {
            return refuse_file(StatusKind::kUnsupported, file_name_, "it was written on a big-endian machine",
                               "use the official download");
        }
        return {};
    }

    /// The bytes of the next storage in the file.
    Result<std::span<const std::byte>> next_storage(const PickledStorage& storage) {
        std::int64_t num_elements = 0;
        if (rest_.size() < sizeof(num_elements)) return cut_short();
        std::memcpy(&num_elements, rest_.data(), sizeof(num_elements));
        if (num_elements != storage.num_elements) {
            return bad_file(file_name_, fmt::format("its data for storage {} has the wrong size",
                                                    in_quotes(storage.key)));
        }
        rest_ = rest_.subspan(sizeof(num_elements));
        const auto bytes =
            checked_multiply(static_cast<std::size_t>(num_elements), data_type_bytes(storage.type));
        if (!bytes || *bytes > rest_.size()) return cut_short();
        const auto data = rest_.first(*bytes);
        rest_ = rest_.subspan(*bytes);
        return data;
    }

  private:
    tl::unexpected<Status> cut_short() const {
        return bad_file(file_name_, "the file is cut short (tensor data is missing)");
    }

    std::span<const std::byte> rest_;
    std::string_view file_name_;
};

using Storages = std::unordered_map<std::string_view, std::span<const std::byte>>;

/// Finds every storage's bytes, in the order of the key list.
/// @param state_dict  names the storages' types and sizes
Result<Storages> locate_storages(const Pickle& state_dict, const Pickle& keys, LegacyReader& reader,
                                 std::string_view file_name) {
    std::unordered_map<std::string_view, PickledStorage> known;
    for (const PickleValue& value : state_dict.values) {
        if (value.kind != Kind::kPersistentId) continue;
        if (const auto storage = read_storage_id(state_dict, value)) known.emplace(storage->key, *storage);
    }
    if (keys.root_value().kind != Kind::kList) return bad_file(file_name, "its list of storages is missing");
    Storages storages;
    for (const PickleRef ref : keys.root_value().items) {
        const PickleValue& key = keys[ref];
        const auto storage = known.find(key.text);
        if (key.kind != Kind::kString || storage == known.end()) {
            return bad_file(file_name, "it lists a storage that no tensor uses");
        }
        const auto bytes = reader.next_storage(storage->second);
        if (!bytes) return tl::unexpected(bytes.error());
        if (!storages.emplace(storage->first, *bytes).second) {
            return bad_file(file_name, "it lists a storage twice");
        }
    }
    return storages;
}

}  // namespace

Result<std::vector<StoredTensor>> read_torch_legacy(std::span<const std::byte> file,
                                                    std::string_view file_name) {
    LegacyReader reader(file, file_name);
    if (auto preamble = reader.skip_preamble(); !preamble) return tl::unexpected(std::move(preamble.error()));
    const auto state_dict = reader.next_pickle();
    if (!state_dict) return tl::unexpected(state_dict.error());
    const auto keys = reader.next_pickle();
    if (!keys) return tl::unexpected(keys.error());
    const auto storages = locate_storages(*state_dict, *keys, reader, file_name);
    if (!storages) return tl::unexpected(storages.error());

    const auto find_storage = [&](const PickledStorage& storage) -> Result<std::span<const std::byte>> {
        const auto bytes = storages->find(storage.key);
        if (bytes != storages->end()) return bytes->second;
        return bad_file(file_name, fmt::format("its data for storage {} is missing", in_quotes(storage.key)));
    };
    return read_state_dict(*state_dict, find_storage, file_name);
}

}  // namespace glmchat
