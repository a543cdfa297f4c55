#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "engine/loader/stored_tensor.h"
#include "engine/status.h"

namespace glmchat::test {

/// What must hold for every input; a fuzzer stops at the input for which it does not.
inline void require(bool condition) {
    if (!condition) std::abort();
}

inline std::span<const std::byte> as_bytes(const std::uint8_t* data, std::size_t size) {
    return std::as_bytes(std::span(data, size));
}

/// A refusal is one sentence; an accepted file gives up every tensor it promised, none larger than the file.
inline void check_outcome(const Result<std::vector<StoredTensor>>& tensors, std::size_t file_size) {
    if (!tensors) {
        require(tensors.error().message.ends_with('.') && tensors.error().message.size() < 1000);
        return;
    }
    for (const StoredTensor& tensor : *tensors) {
        const auto loaded = load_tensor(tensor, nullptr);
        require(loaded.has_value() && loaded->bytes.size() <= file_size);
        unsigned sum = 0;  // touches every byte, for the address sanitizer
        for (const std::byte byte : loaded->bytes) sum += static_cast<unsigned>(byte);
        require(sum <= 255 * loaded->bytes.size());
    }
}

}  // namespace glmchat::test
