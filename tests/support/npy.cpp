#include "tests/support/npy.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace glmchat::test {
namespace {

template <typename T>
void append_values(const std::string& data, std::size_t count, std::vector<double>& values) {
    if (data.size() < count * sizeof(T)) throw std::runtime_error("npy data too short");
    for (std::size_t i = 0; i < count; ++i) {
        T value;
        std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
        values.push_back(static_cast<double>(value));
    }
}

std::string quoted_field(const std::string& header, const std::string& key) {
    const auto at = header.find("'" + key + "': '");
    if (at == std::string::npos) throw std::runtime_error("npy header lacks " + key);
    const auto begin = at + key.size() + 5;
    return header.substr(begin, header.find('\'', begin) - begin);
}

std::vector<std::int64_t> parse_shape(const std::string& header) {
    const auto begin = header.find("'shape': (") + 10;
    const std::string list = header.substr(begin, header.find(')', begin) - begin);
    std::vector<std::int64_t> shape;
    for (std::size_t at = 0; at < list.size();) {
        std::size_t used = 0;
        if (list[at] < '0' || list[at] > '9') {
            ++at;
            continue;
        }
        shape.push_back(std::stoll(list.substr(at), &used));
        at += used;
    }
    return shape;
}

}  // namespace

NpyArray read_npy(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.size() < 10 || bytes.compare(0, 6, "\x93NUMPY") != 0) {
        throw std::runtime_error("not an npy file: " + path.string());
    }
    const bool version1 = bytes[6] == 1;
    std::uint32_t header_size = 0;
    std::memcpy(&header_size, bytes.data() + 8, version1 ? 2 : 4);
    const std::size_t header_begin = version1 ? 10 : 12;
    const std::string header = bytes.substr(header_begin, header_size);
    const std::string data = bytes.substr(header_begin + header_size);

    NpyArray array;
    array.shape = parse_shape(header);
    std::size_t count = 1;
    for (const std::int64_t extent : array.shape) count *= static_cast<std::size_t>(extent);
    const std::string type = quoted_field(header, "descr");
    if (type == "<f4") append_values<float>(data, count, array.values);
    else if (type == "<f8") append_values<double>(data, count, array.values);
    else if (type == "|i1") append_values<std::int8_t>(data, count, array.values);
    else if (type == "|u1") append_values<std::uint8_t>(data, count, array.values);
    else if (type == "<i4") append_values<std::int32_t>(data, count, array.values);
    else if (type == "<i8") append_values<std::int64_t>(data, count, array.values);
    else throw std::runtime_error("npy type " + type + " in " + path.string());
    return array;
}

}  // namespace glmchat::test
