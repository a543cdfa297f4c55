#include "tests/engine/loader/loader_test_support.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/conformance_kit.h"
#include <fmt/format.h>
#include <unistd.h>

namespace glmchat::test {
namespace {

namespace fs = std::filesystem;

std::string zeros(std::size_t count) {
    return std::string(count, '\0');
}

fs::path from_utf8(std::string_view text) {
    return {std::u8string(text.begin(), text.end())};
}

}  // namespace

TempFolder::TempFolder() {
    static std::atomic<int> next{0};
    path_ = fs::temp_directory_path() /
            from_utf8(fmt::format("glmchat 模型\u3000测试 {}-{}", ::getpid(), next++));
    fs::create_directories(path_);
}

TempFolder::~TempFolder() {
    std::error_code left_behind;  // only a temporary folder
    fs::remove_all(path_, left_behind);
}

fs::path TempFolder::write(std::string_view name, std::string_view content) const {
    const fs::path path = path_ / from_utf8(name);
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file.flush()) throw std::runtime_error("cannot write " + path.string());
    return path;
}

std::string read_file(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot read " + path.string());
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

fs::path golden_folder() {
    return source_dir() / "tests" / "golden" / "loader";
}

std::string little_endian(std::uint64_t number, std::size_t num_bytes) {
    std::string bytes;
    for (std::size_t i = 0; i < num_bytes; ++i) bytes += static_cast<char>(number >> (8 * i) & 0xFFU);
    return bytes;
}

std::string safetensors_file(std::string_view header, std::string_view data) {
    return little_endian(header.size(), 8).append(header).append(data);
}

std::string zip_file(const std::vector<std::pair<std::string, std::string>>& entries) {
    std::string file;
    std::string directory;
    for (const auto& [name, data] : entries) {
        const std::string sizes = little_endian(data.size(), 4) + little_endian(data.size(), 4);
        // version, flags, method, time, date and CRC are zero: none of them matters to the loader.
        directory += "PK\x01\x02" + zeros(16) + sizes + little_endian(name.size(), 2) + zeros(12) +
                     little_endian(file.size(), 4) + name;
        file += "PK\x03\x04" + zeros(14) + sizes + little_endian(name.size(), 2) + zeros(2) + name + data;
    }
    const std::string count = little_endian(entries.size(), 2);
    const std::string end = "PK\x05\x06" + zeros(4) + count + count + little_endian(directory.size(), 4) +
                            little_endian(file.size(), 4) + zeros(2);
    return file + directory + end;
}

CheckResult expect_refusal(const Status& status, StatusKind kind, std::string_view file_name,
                           std::string_view finding) {
    const std::string& message = status.message;
    if (status.kind != kind) {
        return failed(fmt::format("kind {} for: {}", static_cast<int>(status.kind), message));
    }
    const bool sentence = message.starts_with(fmt::format("{}: ", file_name)) &&
                          message.find("; ") != message.npos && message.ends_with('.') &&
                          message.find('\n') == message.npos;
    if (!sentence) return failed("not \"<file>: <finding>; <remedy>.\": " + message);
    if (message.find(finding) == message.npos) {
        return failed(fmt::format("no \"{}\" in: {}", finding, message));
    }
    return passed();
}

std::string hex(std::span<const std::byte> bytes) {
    std::string text;
    for (const std::byte byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(byte));
    return text;
}

}  // namespace glmchat::test
