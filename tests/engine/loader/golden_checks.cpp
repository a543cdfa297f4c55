#include <fstream>
#include <map>

#include "tests/engine/loader/all_checks.h"
#include "tests/engine/loader/loader_test_support.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/loader/safetensors.h"
#include "engine/loader/stored_tensor.h"
#include "engine/loader/torch_file.h"

// The files that make_loader_golden.py wrote: every layout must give the tensors of expected.json, bit by
// bit. Cut short they must be refused; with a wrong byte they must not crash.

namespace glmchat::test {
namespace {

namespace fs = std::filesystem;

struct Golden {
    const char* name;  ///< a file or a folder
    const char* format;
};

constexpr Golden kGoldens[] = {{"zip_aligned.bin", "bin (zip)"},     {"zip_unaligned.bin", "bin (zip)"},
                               {"zip64_sizes.bin", "bin (zip)"},     {"legacy.bin", "bin (legacy)"},
                               {"plain.safetensors", "safetensors"}, {"sharded_zip", "bin (zip)"},
                               {"sharded_legacy", "bin (legacy)"},   {"sharded_safetensors", "safetensors"}};

/// "float16 [3,2] 0a0b…"
std::string described(std::string_view dtype, const std::vector<std::int64_t>& shape,
                      const std::string& data) {
    return fmt::format("{} [{}] {}", dtype, fmt::join(shape, ","), data);
}

CheckResult check_tensors(const Golden& golden) {
    const fs::path path = golden_folder() / golden.name;
    const auto checkpoint =
        fs::is_directory(path) ? Checkpoint::open_folder(path) : Checkpoint::open_file(path);
    if (!checkpoint) return failed(checkpoint.error().message);
    if (checkpoint->format() != golden.format) return failed("format " + checkpoint->format());
    const auto expected = nlohmann::json::parse(read_file(golden_folder() / "expected.json"));
    if (checkpoint->tensors().size() != expected.size()) {
        return failed(fmt::format("{} tensors", checkpoint->tensors().size()));
    }
    std::size_t total_bytes = 0;
    for (const auto& entry : expected) {
        const auto name = entry["name"].get<std::string>();
        const auto tensor = checkpoint->tensor(name);
        if (!tensor) return failed(tensor.error().message);
        const auto got = described(data_type_name(tensor->info.type), tensor->info.shape, hex(tensor->bytes));
        const auto wanted =
            described(entry["dtype"].get<std::string>(), entry["shape"].get<std::vector<std::int64_t>>(),
                      entry["hex"].get<std::string>());
        if (got != wanted) return failed(fmt::format("{}: {} instead of {}", name, got, wanted));
        if (reinterpret_cast<std::uintptr_t>(tensor->bytes.data()) % data_type_bytes(tensor->info.type) !=
            0) {
            return failed(name + " is not aligned");
        }
        if (checkpoint->find(name) == nullptr || checkpoint->find(name)->name != name) {
            return failed("find " + name);
        }
        total_bytes += tensor->bytes.size();
    }
    if (checkpoint->total_bytes() != total_bytes) {
        return failed(fmt::format("total_bytes {}", checkpoint->total_bytes()));
    }
    return passed();
}

/// A tensor stays valid when its checkpoint is gone, and an unknown name is an error that says so.
CheckResult check_lifetime() {
    auto checkpoint = Checkpoint::open_file(golden_folder() / "plain.safetensors");
    if (!checkpoint) return failed(checkpoint.error().message);
    const auto unknown = expect_refused(checkpoint->tensor("no such"), StatusKind::kNotFound,
                                        "plain.safetensors", "\"no such\" is not in these weights");
    if (unknown.outcome != CheckResult::Outcome::kPassed) return unknown;
    if (checkpoint->find("no such") != nullptr) return failed("found what is not there");
    const auto tensor = checkpoint->tensor("parameter");
    checkpoint = failure(StatusKind::kInternal, "closed");
    return hex(tensor->bytes) == "0000803f000000400000404000008040" ? passed() : failed(hex(tensor->bytes));
}

/// Order as in the file, for the formats that keep one.
CheckResult check_order(const Golden& golden) {
    const auto checkpoint = Checkpoint::open_file(golden_folder() / golden.name);
    if (!checkpoint) return failed(checkpoint.error().message);
    const auto expected = nlohmann::json::parse(read_file(golden_folder() / "expected.json"));
    std::map<std::string, bool> seen;
    for (std::size_t i = 0; i < expected.size(); ++i) {
        if (checkpoint->tensors()[i].name != expected[i]["name"]) {
            return failed(fmt::format("tensor {} is {}", i, checkpoint->tensors()[i].name));
        }
    }
    return passed();
}

using ReadTensors = Result<std::vector<StoredTensor>> (*)(std::span<const std::byte>, std::string_view);

struct Reader {
    const char* file;
    ReadTensors read;
};
constexpr Reader kReaders[] = {{"zip_aligned.bin", read_torch_zip},
                               {"zip64_sizes.bin", read_torch_zip},
                               {"legacy.bin", read_torch_legacy},
                               {"plain.safetensors", read_safetensors}};

/// A heap copy of exactly that length, so that the address sanitizer sees any read past its end.
std::vector<std::byte> copy_of(std::string_view content) {
    const auto bytes = std::as_bytes(std::span(content));
    return {bytes.begin(), bytes.end()};
}

CheckResult check_every_length(const Reader& reader) {
    const std::string content = read_file(golden_folder() / reader.file);
    for (std::size_t size = 0; size < content.size(); ++size) {
        const auto bytes = copy_of(std::string_view(content).substr(0, size));
        const auto result =
            expect_refused(reader.read(bytes, "cut.bin"), StatusKind::kBadFile, "cut.bin", "");
        if (result.outcome != CheckResult::Outcome::kPassed) {
            return failed(fmt::format("cut to {} bytes: {}", size, result.message));
        }
    }
    return passed(fmt::format("{} lengths", content.size()));
}

CheckResult check_every_byte(const Reader& reader) {
    const std::string content = read_file(golden_folder() / reader.file);
    auto bytes = copy_of(content);
    const auto no_file = std::shared_ptr<const MappedFile>();
    int num_accepted = 0;
    for (std::byte& byte : bytes) {
        const std::byte right = byte;
        for (const auto wrong :
             {right ^ std::byte{0x01}, right ^ std::byte{0x80}, std::byte{0xFF}, std::byte{0x00}}) {
            byte = wrong;
            const auto tensors = reader.read(bytes, "wrong.bin");
            if (!tensors) continue;
            ++num_accepted;
            for (const StoredTensor& tensor : *tensors) {
                if (!load_tensor(tensor, no_file)) return failed("a small tensor could not be loaded");
            }
        }
        byte = right;
    }
    return passed(fmt::format("{} bytes, {} harmless changes", bytes.size(), num_accepted));
}

}  // namespace

std::vector<Check> golden_checks() {
    std::vector<Check> checks{{"golden/lifetime", check_lifetime}};
    for (const Golden& golden : kGoldens) {
        checks.push_back(
            {fmt::format("golden/tensors/{}", golden.name), [&golden] { return check_tensors(golden); }});
    }
    for (const Golden* golden : {&kGoldens[0], &kGoldens[3]}) {
        checks.push_back(
            {fmt::format("golden/order/{}", golden->name), [golden] { return check_order(*golden); }});
    }
    for (const Reader& reader : kReaders) {
        checks.push_back({fmt::format("golden/cut_short/{}", reader.file),
                          [&reader] { return check_every_length(reader); }});
        checks.push_back({fmt::format("golden/wrong_byte/{}", reader.file),
                          [&reader] { return check_every_byte(reader); }});
    }
    return checks;
}

}  // namespace glmchat::test
