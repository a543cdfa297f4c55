#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace glmchat::kernels {

enum class ElementType : std::uint8_t { kFloat32, kFloat16, kBFloat16, kInt8, kInt4 };

/// Bits of one element; kInt4 packs two to a byte.
constexpr int element_bits(ElementType type) {
    switch (type) {
        case ElementType::kFloat32:
            return 32;
        case ElementType::kFloat16:
        case ElementType::kBFloat16:
            return 16;
        case ElementType::kInt8:
            return 8;
        case ElementType::kInt4:
            return 4;
    }
    return 0;
}

/// Bytes of `count` elements that lie without gaps (an odd number of INT4 elements rounds up).
constexpr std::size_t element_bytes(ElementType type, std::int64_t count) {
    return static_cast<std::size_t>((count * element_bits(type) + 7) / 8);
}

/// A view of a dense row-major matrix in the memory of one backend. Does not own its data.
/// Activations use Backend::activation_type(); logits are always kFloat32.
struct Tensor {
    void* data = nullptr;
    ElementType type = ElementType::kFloat32;
    std::int64_t rows = 0;
    std::int64_t cols = 0;

    float* as_float() const { return static_cast<float*>(data); }
    /// Rows [first, first + count) of this matrix.
    Tensor row_slice(std::int64_t first, std::int64_t count) const {
        auto* bytes = static_cast<std::byte*>(data) + element_bytes(type, first * cols);
        return {bytes, type, count, cols};
    }
};

enum class ScaleLayout : std::uint8_t {
    kNone,      ///< plain FP32/FP16/BF16 weight
    kPerRow,    ///< one scale per output row: the official INT8/INT4 checkpoints
    kPerGroup,  ///< scales [out_features, ceil(in_features / group_size)]: our own quantise-on-load
};

/// The weight of y = x W^T. It says its own element type and scale layout; it is never expanded for a
/// single-token step. w[n][k] = q[n][k] * scale, with the scale of row n (kPerRow) or of row n, group k /
/// group_size (kPerGroup). kInt4 packs as the official checkpoints do: byte j of a row holds column 2j in the
/// HIGH nibble and column 2j+1 in the LOW nibble, both two's complement. in_features and group_size are even
/// for kInt4.
struct LinearWeight {
    ElementType type = ElementType::kFloat32;
    const void* data = nullptr;  ///< [out_features, in_features], row-major, packed
    std::int64_t out_features = 0;
    std::int64_t in_features = 0;
    ScaleLayout scale_layout = ScaleLayout::kNone;
    ElementType scale_type = ElementType::kFloat16;  ///< kFloat16 or kFloat32
    const void* scales = nullptr;
    std::int64_t group_size = 0;        ///< elements of the reduction dimension per scale; 0 unless kPerGroup
    std::shared_ptr<const void> owner;  ///< keeps data and scales alive (a mapped file, a buffer)

    std::size_t row_bytes() const { return element_bytes(type, in_features); }
};

}  // namespace glmchat::kernels
