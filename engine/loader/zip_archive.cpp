#include "engine/loader/zip_archive.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <unordered_set>

#include <fmt/format.h>

#include "engine/loader/message.h"

// Layout, from the end of the file: end record (22 bytes + comment), before it in zip64 archives a locator
// (20 bytes) of the zip64 end record (56 bytes); either end record places the central directory, whose
// entries (46 bytes + name + extra fields
// + comment) place the local headers (30 bytes + name + extra fields), which are followed by the data. All
// little-endian. Sizes are taken from the central directory: writers that stream leave them zero in the local
// header.

namespace glmchat {
namespace {

static_assert(std::endian::native == std::endian::little,
              "the loader maps little-endian files without conversion");

constexpr std::uint32_t kEndSignature = 0x06054B50;
constexpr std::uint32_t kLocatorSignature = 0x07064B50;
constexpr std::uint32_t kZip64EndSignature = 0x06064B50;
constexpr std::uint32_t kEntrySignature = 0x02014B50;
constexpr std::uint32_t kLocalSignature = 0x04034B50;
constexpr std::size_t kEndBytes = 22;
constexpr std::size_t kLocatorBytes = 20;
constexpr std::size_t kZip64EndBytes = 56;
constexpr std::size_t kEntryBytes = 46;
constexpr std::size_t kLocalBytes = 30;
constexpr std::size_t kMostCommentBytes = 0xFFFF;
constexpr std::uint32_t kInExtraField = 0xFFFFFFFF;
constexpr std::uint16_t kZip64ExtraField = 1;
constexpr std::uint64_t kMostEntries = 1U << 18U;  // one per tensor and a few more

template <typename T>
T number_at(std::span<const std::byte> bytes, std::size_t at) {
    T number;
    std::memcpy(&number, bytes.data() + at, sizeof(T));
    return number;
}

/// `size` bytes from `begin`; nullopt when they are not all there.
std::optional<std::span<const std::byte>> window(std::span<const std::byte> bytes, std::uint64_t begin,
                                                 std::uint64_t size) {
    if (begin > bytes.size() || size > bytes.size() - begin) return std::nullopt;
    return bytes.subspan(begin, size);
}

/// A fixed-size record that begins with its signature.
std::optional<std::span<const std::byte>> record(std::span<const std::byte> bytes, std::uint64_t begin,
                                                 std::size_t size, std::uint32_t signature) {
    const auto found = window(bytes, begin, size);
    return found && number_at<std::uint32_t>(*found, 0) == signature ? found : std::nullopt;
}

struct Directory {
    std::uint64_t num_entries;
    std::span<const std::byte> entries;
};

/// The end record's place: the last one whose comment ends with the file.
std::optional<std::size_t> find_end_record(std::span<const std::byte> file) {
    if (file.size() < kEndBytes) return std::nullopt;
    const std::size_t last = file.size() - kEndBytes;
    for (std::size_t comment = 0; comment <= std::min(last, kMostCommentBytes); ++comment) {
        const auto end = record(file, last - comment, kEndBytes, kEndSignature);
        if (end && number_at<std::uint16_t>(*end, 20) == comment) return last - comment;
    }
    return std::nullopt;
}

Result<Directory> find_directory(std::span<const std::byte> file, std::string_view file_name) {
    const auto end_begin = find_end_record(file);
    if (!end_begin) return bad_file(file_name, "the file is cut short (its zip end record is missing)");
    const auto end = file.subspan(*end_begin);
    std::uint64_t num_entries = number_at<std::uint16_t>(end, 10);
    std::uint64_t size = number_at<std::uint32_t>(end, 12);
    std::uint64_t begin = number_at<std::uint32_t>(end, 16);

    const auto locator = *end_begin < kLocatorBytes
                             ? std::nullopt
                             : record(file, *end_begin - kLocatorBytes, kLocatorBytes, kLocatorSignature);
    if (locator) {
        const auto zip64_end =
            record(file, number_at<std::uint64_t>(*locator, 8), kZip64EndBytes, kZip64EndSignature);
        if (!zip64_end) {
            return bad_file(file_name,
                            "its zip64 end record is not where it should be (damaged, or bytes are missing)");
        }
        num_entries = number_at<std::uint64_t>(*zip64_end, 32);
        size = number_at<std::uint64_t>(*zip64_end, 40);
        begin = number_at<std::uint64_t>(*zip64_end, 48);
    }
    const auto entries = window(file, begin, size);
    if (!entries || num_entries > kMostEntries) {
        return bad_file(file_name,
                        "its zip directory is not where it should be (damaged, or bytes are missing)");
    }
    return Directory{num_entries, *entries};
}

/// What the central directory says of one entry.
struct EntryFacts {
    std::string_view name;
    std::uint16_t flags;
    std::uint16_t method;
    std::uint64_t stored_size;
    std::uint64_t size;
    std::uint64_t local_begin;
    std::size_t record_bytes;  ///< length of this entry in the directory
};

/// Replaces the sizes and the place that did not fit 32 bits. @return false when the extra field lacks one of
/// them
bool read_zip64_field(std::span<const std::byte> extra, EntryFacts& facts) {
    while (extra.size() >= 4) {
        const auto field = window(extra, 4, number_at<std::uint16_t>(extra, 2));
        if (!field) return false;
        if (number_at<std::uint16_t>(extra, 0) != kZip64ExtraField) {
            extra = extra.subspan(4 + field->size());
            continue;
        }
        std::size_t at = 0;
        for (std::uint64_t* value : {&facts.size, &facts.stored_size, &facts.local_begin}) {
            if (*value != kInExtraField) continue;
            if (field->size() - at < sizeof(std::uint64_t)) return false;
            *value = number_at<std::uint64_t>(*field, at);
            at += sizeof(std::uint64_t);
        }
        return true;
    }
    return facts.size != kInExtraField && facts.stored_size != kInExtraField &&
           facts.local_begin != kInExtraField;
}

std::optional<EntryFacts> read_entry_facts(std::span<const std::byte> directory) {
    const auto fixed = record(directory, 0, kEntryBytes, kEntrySignature);
    if (!fixed) return std::nullopt;
    const std::size_t name_bytes = number_at<std::uint16_t>(*fixed, 28);
    const std::size_t extra_bytes = number_at<std::uint16_t>(*fixed, 30);
    const std::size_t comment_bytes = number_at<std::uint16_t>(*fixed, 32);
    const auto name = window(directory, kEntryBytes, name_bytes);
    const auto extra = window(directory, kEntryBytes + name_bytes, extra_bytes);
    const std::size_t record_bytes = kEntryBytes + name_bytes + extra_bytes + comment_bytes;
    if (!name || !extra || record_bytes > directory.size()) return std::nullopt;
    EntryFacts facts{{reinterpret_cast<const char*>(name->data()), name->size()},
                     number_at<std::uint16_t>(*fixed, 8),
                     number_at<std::uint16_t>(*fixed, 10),
                     number_at<std::uint32_t>(*fixed, 20),
                     number_at<std::uint32_t>(*fixed, 24),
                     number_at<std::uint32_t>(*fixed, 42),
                     record_bytes};
    return read_zip64_field(*extra, facts) ? std::optional(facts) : std::nullopt;
}

Result<ZipEntry> locate(std::span<const std::byte> file, const EntryFacts& facts,
                        std::string_view file_name) {
    constexpr std::uint16_t kEncrypted = 1;
    if (facts.method != 0 || (facts.flags & kEncrypted) != 0 || facts.size != facts.stored_size) {
        return refuse_file(StatusKind::kUnsupported, file_name,
                           fmt::format("its zip entry {} is compressed or encrypted", in_quotes(facts.name)),
                           "use the file as torch.save writes it, not packed again");
    }
    const auto refuse = [&] {
        return bad_file(
            file_name,
            fmt::format("its zip entry {} is not where it should be (damaged, or bytes are missing)",
                        in_quotes(facts.name)));
    };
    const auto local = record(file, facts.local_begin, kLocalBytes, kLocalSignature);
    if (!local) return refuse();
    const std::size_t header_bytes =
        kLocalBytes + number_at<std::uint16_t>(*local, 26) + number_at<std::uint16_t>(*local, 28);
    const auto data = window(file.subspan(facts.local_begin), header_bytes, facts.size);
    if (!data) return refuse();
    return ZipEntry{facts.name, *data};
}

}  // namespace

Result<std::vector<ZipEntry>> read_zip_archive(std::span<const std::byte> file, std::string_view file_name) {
    const auto directory = find_directory(file, file_name);
    if (!directory) return tl::unexpected(directory.error());
    std::vector<ZipEntry> entries;
    std::unordered_set<std::string_view> names;
    auto rest = directory->entries;
    for (std::uint64_t i = 0; i < directory->num_entries; ++i) {
        const auto facts = read_entry_facts(rest);
        if (!facts) return bad_file(file_name, "its zip directory is damaged");
        if (!names.insert(facts->name).second) {
            return bad_file(file_name,
                            fmt::format("its zip directory names {} twice", in_quotes(facts->name)));
        }
        const auto entry = locate(file, *facts, file_name);
        if (!entry) return tl::unexpected(entry.error());
        entries.push_back(*entry);
        rest = rest.subspan(facts->record_bytes);
    }
    return entries;
}

}  // namespace glmchat
