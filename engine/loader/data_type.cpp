#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/loader/checkpoint.h"

namespace glmchat {
namespace {

struct DataTypeFacts {
    std::string_view name;
    std::size_t bytes;
};

/// In the order of DataType.
constexpr std::array<DataTypeFacts, 10> kFacts{{{"float64", 8},
                                                {"float32", 4},
                                                {"float16", 2},
                                                {"bfloat16", 2},
                                                {"int64", 8},
                                                {"int32", 4},
                                                {"int16", 2},
                                                {"int8", 1},
                                                {"uint8", 1},
                                                {"bool", 1}}};

}  // namespace

std::string_view data_type_name(DataType type) {
    return kFacts[static_cast<std::size_t>(type)].name;
}
std::size_t data_type_bytes(DataType type) {
    return kFacts[static_cast<std::size_t>(type)].bytes;
}

std::int64_t TensorInfo::num_elements() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : shape) product *= extent;
    return product;
}

}  // namespace glmchat
