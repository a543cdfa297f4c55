#include "tests/engine/model/damaged_folder.h"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

namespace glmchat::test {
namespace {

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    file.exceptions(std::ios::badbit | std::ios::failbit);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream file(path, std::ios::binary);
    file.exceptions(std::ios::badbit | std::ios::failbit);
    file << bytes;
}

std::string with_edited_header(const std::string& safetensors, const DamagedFolder::Edit& edit) {
    std::uint64_t header_size = 0;
    std::memcpy(&header_size, safetensors.data(), sizeof(header_size));
    nlohmann::json header = nlohmann::json::parse(safetensors.substr(sizeof(header_size), header_size));
    edit(header);
    const std::string text = header.dump();
    const std::uint64_t new_size = text.size();
    std::string bytes(sizeof(new_size), '\0');
    std::memcpy(bytes.data(), &new_size, sizeof(new_size));
    return bytes + text + safetensors.substr(sizeof(header_size) + header_size);
}

}  // namespace

DamagedFolder::DamagedFolder(const std::filesystem::path& original, const Edit& edit_header,
                             const Edit& edit_config)
    : path_(std::filesystem::temp_directory_path() /
            ("glmchat-model-test-" + std::to_string(std::random_device()()))) {
    std::filesystem::create_directory(path_);
    nlohmann::json config = nlohmann::json::parse(read_file(original / "config.json"));
    edit_config(config);
    write_file(path_ / "config.json", config.dump());
    write_file(path_ / "model.safetensors",
               with_edited_header(read_file(original / "model.safetensors"), edit_header));
}

DamagedFolder::~DamagedFolder() {
    std::error_code ignored;  // a file left in the temporary folder fails no test
    std::filesystem::remove_all(path_, ignored);
}

}  // namespace glmchat::test
