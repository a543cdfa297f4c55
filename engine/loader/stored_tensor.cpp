#include "engine/loader/stored_tensor.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "engine/loader/message.h"

namespace glmchat {
namespace {

constexpr std::size_t kMostDimensions = 16;

bool is_contiguous(const StoredTensor& tensor) {
    std::int64_t expected = 1;
    for (std::size_t d = tensor.info.shape.size(); d-- > 0;) {
        const std::int64_t extent = tensor.info.shape[d];
        // The stride of a single row is never used.
        if (extent != 1 && tensor.strides[d] != expected) return false;
        expected *= extent;
    }
    return true;
}

/// Index of the last element in the storage, or nullopt when it overflows. No extent is zero.
std::optional<std::size_t> last_element(const StoredTensor& tensor) {
    std::optional<std::size_t> last = static_cast<std::size_t>(tensor.storage_offset);
    for (std::size_t d = 0; d < tensor.info.shape.size() && last; ++d) {
        const auto steps = checked_multiply(static_cast<std::size_t>(tensor.info.shape[d] - 1),
                                            static_cast<std::size_t>(tensor.strides[d]));
        last = steps ? checked_add(*last, *steps) : std::nullopt;
    }
    return last;
}

/// Gathers a strided tensor row-major, walking its index like an odometer.
template <std::size_t ElementBytes>
void gather(const StoredTensor& tensor, std::byte* target) {
    const auto& shape = tensor.info.shape;
    std::vector<std::int64_t> index(shape.size(), 0);
    const std::byte* source =
        tensor.storage.data() + tensor.storage_offset * static_cast<std::int64_t>(ElementBytes);
    std::int64_t at = 0;
    for (std::int64_t left = tensor.info.num_elements(); left > 0; --left) {
        std::memcpy(target, source + at * static_cast<std::int64_t>(ElementBytes), ElementBytes);
        target += ElementBytes;
        for (std::size_t d = shape.size(); d-- > 0;) {
            at += tensor.strides[d];
            if (++index[d] < shape[d]) break;
            at -= tensor.strides[d] * shape[d];
            index[d] = 0;
        }
    }
}

void gather(const StoredTensor& tensor, std::byte* target) {
    switch (data_type_bytes(tensor.info.type)) {
        case 8:
            return gather<8>(tensor, target);
        case 4:
            return gather<4>(tensor, target);
        case 2:
            return gather<2>(tensor, target);
        default:
            return gather<1>(tensor, target);
    }
}

}  // namespace

std::optional<std::size_t> checked_multiply(std::size_t a, std::size_t b) {
    if (b != 0 && a > std::numeric_limits<std::size_t>::max() / b) return std::nullopt;
    return a * b;
}

std::optional<std::size_t> checked_add(std::size_t a, std::size_t b) {
    if (a > std::numeric_limits<std::size_t>::max() - b) return std::nullopt;
    return a + b;
}

std::optional<std::size_t> checked_tensor_bytes(std::span<const std::int64_t> shape, DataType type) {
    if (shape.size() > kMostDimensions) return std::nullopt;
    constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
    std::size_t bytes = data_type_bytes(type);
    bool empty = false;
    for (const std::int64_t extent : shape) {
        if (extent < 0) return std::nullopt;
        empty = empty || extent == 0;
        const auto product =
            checked_multiply(bytes, static_cast<std::size_t>(std::max<std::int64_t>(extent, 1)));
        if (!product || *product > kMost) return std::nullopt;
        bytes = *product;
    }
    return empty ? 0 : bytes;
}

std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;) {
        strides[d - 1] = strides[d] * std::max<std::int64_t>(shape[d], 1);
    }
    return strides;
}

Result<void> check_tensor(const StoredTensor& tensor) {
    const TensorInfo& info = tensor.info;
    const auto refuse = [&info](std::string_view finding) {
        return bad_file(info.file_name, fmt::format("tensor {} {}", in_quotes(info.name), finding));
    };
    const auto bytes = checked_tensor_bytes(info.shape, info.type);
    if (!bytes) return refuse("has an impossible shape (negative, too large or too many dimensions)");
    const bool negative = tensor.storage_offset < 0 ||
                          std::ranges::any_of(tensor.strides, [](auto stride) { return stride < 0; });
    if (negative || tensor.strides.size() != info.shape.size()) return refuse("has impossible strides");
    if (*bytes == 0) return {};
    if (*bytes > tensor.storage.size()) return refuse("is larger than the data stored for it");
    const auto last = last_element(tensor);
    if (!last || *last >= tensor.storage.size() / data_type_bytes(info.type)) {
        return refuse("reaches past the data stored for it");
    }
    return {};
}

Result<HostTensor> load_tensor(const StoredTensor& tensor, std::shared_ptr<const MappedFile> file) {
    const std::size_t element_bytes = data_type_bytes(tensor.info.type);
    const std::size_t bytes = static_cast<std::size_t>(tensor.info.num_elements()) * element_bytes;
    if (bytes == 0) return HostTensor{tensor.info, {}, std::move(file)};
    const auto window =
        tensor.storage.subspan(static_cast<std::size_t>(tensor.storage_offset) * element_bytes);
    const bool aligned = reinterpret_cast<std::uintptr_t>(window.data()) % element_bytes == 0;
    const bool contiguous = is_contiguous(tensor);
    if (aligned && contiguous) return HostTensor{tensor.info, window.first(bytes), std::move(file)};

    const std::shared_ptr<std::byte[]> copy(new (std::nothrow) std::byte[bytes]);
    if (!copy) {
        return refuse_file(
            StatusKind::kOutOfMemory, tensor.info.file_name,
            fmt::format("there is no memory for {} bytes of tensor {}", bytes, in_quotes(tensor.info.name)),
            "close other programs and try again");
    }
    if (contiguous) {
        std::memcpy(copy.get(), window.data(), bytes);
    } else {
        gather(tensor, copy.get());
    }
    return HostTensor{tensor.info, {copy.get(), bytes}, copy};
}

}  // namespace glmchat
