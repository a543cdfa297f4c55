#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/loader/checkpoint.h"
#include "engine/status.h"

namespace glmchat {

/// A tensor as a weight file stores it: a strided window into a storage, which is a byte range of the mapped
/// file. Several tensors may look into one storage.
struct StoredTensor {
    TensorInfo info;
    std::vector<std::int64_t> strides;   ///< in elements, one per dimension
    std::int64_t storage_offset = 0;     ///< in elements
    std::span<const std::byte> storage;  ///< lives as long as the mapped file
};

std::optional<std::size_t> checked_multiply(std::size_t a, std::size_t b);  ///< nullopt on overflow
std::optional<std::size_t> checked_add(std::size_t a, std::size_t b);       ///< nullopt on overflow

/// Bytes of a tensor of this shape. Nullopt when an extent is negative, there are more than 16 of them, or
/// their product (zeros counted as one, so that any order of multiplication is safe later) does not fit.
std::optional<std::size_t> checked_tensor_bytes(std::span<const std::int64_t> shape, DataType type);

/// Strides, in elements, of a row-major tensor. The shape must have passed checked_tensor_bytes.
std::vector<std::int64_t> row_major_strides(std::span<const std::int64_t> shape);

/// Refuses a tensor that looks outside its storage or repeats elements of it (so a tensor is never larger
/// than its file).
Result<void> check_tensor(const StoredTensor& tensor);

/// The tensor's bytes: the mapped ones when they are contiguous and aligned to the element size, else a
/// private copy. `tensor` must have passed check_tensor. `file` becomes the owner of mapped bytes. Errors:
/// kOutOfMemory.
Result<HostTensor> load_tensor(const StoredTensor& tensor, std::shared_ptr<const MappedFile> file);

}  // namespace glmchat
