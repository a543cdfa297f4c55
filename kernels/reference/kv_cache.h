#pragma once

#include <cstdint>

#include "kernels/batch.h"
#include "kernels/half.h"

namespace glmchat::kernels::reference {

inline constexpr int kKeyPart = 0;
inline constexpr int kValuePart = 1;

inline float load_kv(const KvCacheView& cache, std::int64_t index) {
    if (cache.type == ElementType::kFloat32) return static_cast<const float*>(cache.data)[index];
    return half_to_float(static_cast<const std::uint16_t*>(cache.data)[index]);
}

inline void store_kv(const KvCacheView& cache, std::int64_t index, float value) {
    if (cache.type == ElementType::kFloat32) {
        static_cast<float*>(cache.data)[index] = value;
    } else {
        static_cast<std::uint16_t*>(cache.data)[index] = float_to_half(value);
    }
}

/// Element offset of the row of `slot` for one KV head, found through the sequence's block table.
inline std::int64_t kv_row(const KvCacheView& cache, int layer, const std::int32_t* block_table,
                           std::int32_t slot, int part, int kv_head) {
    return cache.offset(layer, block_table[slot / cache.block_size], part, kv_head, slot % cache.block_size);
}

}  // namespace glmchat::kernels::reference
