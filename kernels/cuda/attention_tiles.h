#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "kernels/cuda/ops.h"

namespace glmchat::kernels::cuda {

/// Cuts the rows of every sequence into tiles of at most `tokens_per_tile` tokens, in order.
/// @param query_starts  [num_sequences + 1], as in RaggedBatch
inline std::vector<AttentionTile> attention_tiles(std::span<const std::int32_t> query_starts,
                                                  std::int32_t tokens_per_tile) {
    std::vector<AttentionTile> tiles;
    for (std::size_t sequence = 0; sequence + 1 < query_starts.size(); ++sequence) {
        const std::int32_t end = query_starts[sequence + 1];
        for (std::int32_t first = query_starts[sequence]; first < end; first += tokens_per_tile) {
            tiles.push_back({first, std::min(tokens_per_tile, end - first)});
        }
    }
    return tiles;
}

}  // namespace glmchat::kernels::cuda
