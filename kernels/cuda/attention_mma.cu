// context[t][h] = softmax(q[t][h] . K / sqrt(D)) V over slots 0..kv_slots[t], FP16 cache, on tensor cores;
// decode and prefill.
//
//   q [num_tokens, qkv_cols] float32    context [num_tokens, heads * D] float32    D = 16, 32, 64, 128
//
// Work. Query heads of one KV head attend to the same keys: a tile is 16 rows of (token, query head) of one
// KV head and one sequence, for ChatGLM2 and GLM-4 exactly the 16 heads of one token. Keys and values are
// read once per tile. One warp computes one tile over one part of its slots, 16 slots at a time, with the
// online softmax of FlashAttention-2 (arXiv 2307.08691):
//
//   S[16 rows][16 slots] = Q K^T       A = Q from registers, B = K^T
//   P = 2^(S - running maximum)        in the registers that mma leaves S in, which the next A wants it in
//   O[16 rows][D] += P V               A = P, B = V
//
// Decode has few tiles (2 per token), so their slots are cut into num_splits parts, each a warp of its own,
// and a second kernel combines them (Flash-Decoding). num_splits and the grid depend on the batch's shape
// alone; where a part begins is computed here from kv_slots, so a captured graph stays right as the context
// grows; parts that turn out empty say so. Prefill has many tiles; the four warps of a block are
// neighbouring tiles of one KV head and meet the same keys in the first-level cache.
//
// float32 scores. Keys and values are halves already. A query, and a softmax weight, is split into hi + lo
// halves and multiplied twice, which keeps 22 bits of it; sums are float32. Weights carry a factor 2^14 (it
// cancels in O / sum), so that lo stays a normal half down to weights of 2^-17. Nothing overflows before
// float32 does.
//
// No shared memory and no rearranging of K. Which k of mma is which dim is free as long as A and B agree:
// lane (g, t), g = lane / 4, t = lane % 4, reads 16 bytes (8 dims) of the key of slot g and uses them as its
// four k of two steps; four lanes read 64 consecutive bytes. Which column of mma is which dim of V is free
// as well: lane (g, t) reads 16 bytes of the values of slots 2t, 2t + 1, 2t + 8 and 2t + 9, eight lanes 128
// consecutive bytes, and zips two slots into the pairs that B wants with one byte permutation each. Slots
// are looked up once per step when blocks are whole multiples of 16 slots, else one by one.
//
// Bytes per tile: 4 * D per slot (512 for D = 128), each once; 16 KB in flight per warp with both K and V of
// a step requested. Grid: tiles * parts * KV heads warps, 4 to a block. Partial results: 16 * (D + 2) floats
// per warp when num_splits > 1.
#include <algorithm>

#include "kernels/cuda/kv_cache.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr int kWarps = 4;
constexpr int kTileRows = 16;
constexpr int kStepSlots = 16;
constexpr float kLog2E = 1.44269504F;
constexpr float kWeightExponent = 14.0F;

/// Consecutive halves that a lane reads of a key, and of a value: 16 bytes where the head is long enough.
template <int D>
struct HeadLayout {
    static constexpr int kKeyChunk = D / 4 < 8 ? D / 4 : 8;    // of 4 lanes
    static constexpr int kValueChunk = D / 8 < 8 ? D / 8 : 8;  // of 8 lanes
    static constexpr int kKeyLoads = D / (4 * kKeyChunk);
    static constexpr int kValueLoads = D / (8 * kValueChunk);
    static constexpr int kSteps = D / 16;    // mma steps over the dims of Q K^T
    static constexpr int kColTiles = D / 8;  // of O
};

/// kHalves consecutive halves as words.
template <int kHalves>
struct Chunk {
    std::uint32_t words[kHalves / 2];
};
template <int kHalves>
__device__ Chunk<kHalves> load_chunk(const __half* source) {
    if constexpr (kHalves == 8) {
        const uint4 bits = ld16(source);
        return {{bits.x, bits.y, bits.z, bits.w}};
    } else if constexpr (kHalves == 4) {
        const uint2 bits = *reinterpret_cast<const uint2*>(source);
        return {{bits.x, bits.y}};
    } else {
        return {{*reinterpret_cast<const std::uint32_t*>(source)}};
    }
}

__device__ std::uint32_t pack_pair(__half first, __half second) {
    return static_cast<std::uint32_t>(__half_as_ushort(first)) |
           static_cast<std::uint32_t>(__half_as_ushort(second)) << 16;
}

/// (first, second) = hi + lo, each a pair of halves.
struct SplitPair {
    std::uint32_t high;
    std::uint32_t low;
};
__device__ SplitPair split_pair(float first, float second) {
    const __half first_high = __float2half_rn(first);
    const __half second_high = __float2half_rn(second);
    return {pack_pair(first_high, second_high),
            pack_pair(__float2half_rn(first - __half2float(first_high)),
                      __float2half_rn(second - __half2float(second_high)))};
}

/// One warp's share: 16 rows of a tile, a range of steps.
struct Unit {
    AttentionTile tile;
    int kv_head;
    int first_row;  ///< of the 16, among the tile's num_tokens * heads_per_kv_head
    int num_rows;   ///< of the tile in all
    int split;
};

/// Units are ordered [kv_head][split][tile][part of a tile], so that the warps of a block share keys in a
/// prefill.
struct UnitCounts {
    int parts_per_tile;  ///< more than 1 when one token has more than 16 query heads per KV head
    int units;
};
__host__ __device__ UnitCounts count_units(const AttentionShape& shape, int num_tiles, int num_splits) {
    const int heads = shape.num_heads / shape.num_kv_heads;
    const int parts = heads > kTileRows ? (heads + kTileRows - 1) / kTileRows : 1;
    return {parts, shape.num_kv_heads * num_splits * num_tiles * parts};
}

__device__ Unit unit_at(const AttentionArguments& arguments, int index) {
    const int parts =
        count_units(arguments.shape, arguments.batch.num_tiles, arguments.num_splits).parts_per_tile;
    const int part = index % parts;
    index /= parts;
    const AttentionTile tile = arguments.batch.tiles[index % arguments.batch.num_tiles];
    index /= arguments.batch.num_tiles;
    const int heads = arguments.shape.num_heads / arguments.shape.num_kv_heads;
    return {tile, index / arguments.num_splits, part * kTileRows, tile.num_tokens * heads,
            index % arguments.num_splits};
}

/// Where row `row` (0..15) of a unit lies in q and context, and the last slot it sees; none for rows past
/// the tile's end.
struct RowPlace {
    int token;
    int head;
    int last_slot;  ///< -1: no such row
};
__device__ RowPlace place_of(const AttentionArguments& arguments, const Unit& unit, int row) {
    const int heads = arguments.shape.num_heads / arguments.shape.num_kv_heads;
    const int index = unit.first_row + row;
    const bool exists = index < unit.num_rows;
    const int token = unit.tile.first_token + (exists ? index / heads : 0);
    const int head = unit.kv_head * heads + (exists ? index % heads : 0);
    return {token, head, exists ? arguments.batch.kv_slots[token] : -1};
}

/// Finds rows of the paged cache.
struct KvReader {
    const KvCacheView& cache;
    const std::int32_t* block_table;
    int layer;
    int kv_head;
    int num_slots;
    bool whole_steps;  ///< the 16 slots of a step lie in one block
    std::int64_t step_rows[2] = {0, 0};

    __device__ void begin_step(int first_slot) {
        if (!whole_steps) return;
        step_rows[kKeyPart] = kv_row(cache, layer, block_table, first_slot, kKeyPart, kv_head);
        step_rows[kValuePart] = kv_row(cache, layer, block_table, first_slot, kValuePart, kv_head);
    }
    /// The row of `slot`; slots past the end, whose weight is 0, get the last one, so that only written
    /// memory is read.
    __device__ const __half* row(int part, int first_slot, int slot) const {
        slot = min(slot, num_slots - 1);
        const std::int64_t offset = whole_steps
                                        ? step_rows[part] + std::int64_t{slot - first_slot} * cache.head_dim
                                        : kv_row(cache, layer, block_table, slot, part, kv_head);
        return static_cast<const __half*>(cache.data) + offset;
    }
};

/// Rows g and g + 8 of the 16 in the order in which keys are read, scaled so that exponents of 2 can be
/// taken.
template <int D>
struct Queries {
    std::uint32_t high[HeadLayout<D>::kSteps][4];
    std::uint32_t low[HeadLayout<D>::kSteps][4];
};
template <int D>
__device__ void load_queries(const AttentionArguments& arguments, const RowPlace (&places)[2],
                             Queries<D>& queries) {
    using L = HeadLayout<D>;
    const int t = static_cast<int>(threadIdx.x) % 4;
    const float scale = kLog2E / sqrtf(static_cast<float>(D));
    const std::int64_t num_cols = (arguments.shape.num_heads + 2 * arguments.shape.num_kv_heads) * D;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const float* query = arguments.qkv + places[half].token * num_cols + places[half].head * D;
#pragma unroll
        for (int step = 0; step < L::kSteps; ++step) {
            constexpr int kStepsPerLoad = L::kKeyChunk / 4;
            const int dim =
                step / kStepsPerLoad * 4 * L::kKeyChunk + t * L::kKeyChunk + step % kStepsPerLoad * 4;
            const Float4 four = load_float4(query + dim);
#pragma unroll
            for (int pair = 0; pair < 2; ++pair) {
                const SplitPair split =
                    split_pair(four.value[2 * pair] * scale, four.value[2 * pair + 1] * scale);
                queries.high[step][2 * pair + half] = split.high;
                queries.low[step][2 * pair + half] = split.low;
            }
        }
    }
}

/// scores[j][i]: row g + 8 * (i / 2), slot first_slot + 8 * j + 2 * t + i % 2.
template <int D>
__device__ void compute_scores(const Queries<D>& queries, const KvReader& reader, int first_slot,
                               float (&scores)[2][4]) {
    using L = HeadLayout<D>;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int g = lane / 4;
    const int t = lane % 4;
    const __half* keys[2];
#pragma unroll
    for (int j = 0; j < 2; ++j) {
        keys[j] = reader.row(kKeyPart, first_slot, first_slot + 8 * j + g) + t * L::kKeyChunk;
    }
#pragma unroll
    for (int load = 0; load < L::kKeyLoads; ++load) {
#pragma unroll
        for (int j = 0; j < 2; ++j) {
            const auto chunk = load_chunk<L::kKeyChunk>(keys[j] + load * 4 * L::kKeyChunk);
#pragma unroll
            for (int i = 0; i < L::kKeyChunk / 4; ++i) {
                const std::uint32_t b[2] = {chunk.words[2 * i], chunk.words[2 * i + 1]};
                const int step = load * (L::kKeyChunk / 4) + i;
                mma_m16n8k16(scores[j], queries.high[step], b);
                mma_m16n8k16(scores[j], queries.low[step], b);
            }
        }
    }
}

/// The four value rows of a lane: slots 2t, 2t + 1, 2t + 8, 2t + 9.
template <int D>
struct Values {
    Chunk<HeadLayout<D>::kValueChunk> chunks[4][HeadLayout<D>::kValueLoads];
};
template <int D>
__device__ void load_values(const KvReader& reader, int first_slot, Values<D>& values) {
    using L = HeadLayout<D>;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int g = lane / 4;
    const int t = lane % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int slot = first_slot + 2 * t + i % 2 + i / 2 * 8;
        const __half* row = reader.row(kValuePart, first_slot, slot) + g * L::kValueChunk;
#pragma unroll
        for (int load = 0; load < L::kValueLoads; ++load) {
            values.chunks[i][load] = load_chunk<L::kValueChunk>(row + load * 8 * L::kValueChunk);
        }
    }
}

/// Running softmax of rows g and g + 8; `sums` is this lane's part.
template <int D>
struct Softmax {
    float largest[2] = {-INFINITY, -INFINITY};
    float sums[2] = {0.0F, 0.0F};
    float context[HeadLayout<D>::kColTiles][4] = {};
};

/// Turns scores into weights times 2^14 and rescales what was summed before.
template <int D>
__device__ void update_softmax(const RowPlace (&places)[2], int first_slot, float (&scores)[2][4],
                               Softmax<D>& state) {
    const int t = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float largest = state.largest[half];
#pragma unroll
        for (int j = 0; j < 2; ++j) {
#pragma unroll
            for (int i = 2 * half; i < 2 * half + 2; ++i) {
                const int slot = first_slot + 8 * j + 2 * t + i % 2;
                if (slot > places[half].last_slot) scores[j][i] = -INFINITY;
                largest = fmaxf(largest, scores[j][i]);
            }
        }
        largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(kAllLanes, largest, 2));
        const float reference =
            largest == -INFINITY ? 0.0F : largest;  // a row that sees no slot of this part
        const float rescale = exp2f(state.largest[half] - reference);
        state.largest[half] = largest;
        state.sums[half] *= rescale;
#pragma unroll
        for (int j = 0; j < 2; ++j) {
#pragma unroll
            for (int i = 2 * half; i < 2 * half + 2; ++i) {
                scores[j][i] = exp2f(scores[j][i] - reference + kWeightExponent);
                state.sums[half] += scores[j][i];
            }
        }
#pragma unroll
        for (int tile = 0; tile < HeadLayout<D>::kColTiles; ++tile) {
            state.context[tile][2 * half] *= rescale;
            state.context[tile][2 * half + 1] *= rescale;
        }
    }
}

/// context += weights V. Column tile (load, e) holds the dims load * 8 * kValueChunk + kValueChunk * column
/// + e.
template <int D>
__device__ void add_values(const float (&weights)[2][4], const Values<D>& values, Softmax<D>& state) {
    using L = HeadLayout<D>;
    std::uint32_t high[4];
    std::uint32_t low[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {  // rows g, g + 8 of slots 2t, 2t + 1, then of slots 2t + 8, 2t + 9
        const SplitPair split = split_pair(weights[i / 2][i % 2 * 2], weights[i / 2][i % 2 * 2 + 1]);
        high[i] = split.high;
        low[i] = split.low;
    }
#pragma unroll
    for (int load = 0; load < L::kValueLoads; ++load) {
#pragma unroll
        for (int e = 0; e < L::kValueChunk; ++e) {
            const unsigned selector = e % 2 == 0 ? 0x5410U : 0x7632U;
            std::uint32_t b[2];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                b[i] = __byte_perm(values.chunks[2 * i][load].words[e / 2],
                                   values.chunks[2 * i + 1][load].words[e / 2], selector);
            }
            float(&tile)[4] = state.context[load * L::kValueChunk + e];
            mma_m16n8k16(tile, high, b);
            mma_m16n8k16(tile, low, b);
        }
    }
}

/// Sum over the four lanes that hold a row.
__device__ float quad_sum(float value) {
    value += __shfl_xor_sync(kAllLanes, value, 1);
    return value + __shfl_xor_sync(kAllLanes, value, 2);
}

/// Stores this lane's part of one row, times `factor`: 2 * kValueChunk consecutive dims per load.
template <int D>
__device__ void store_row(const Softmax<D>& state, int half, float factor, float* row) {
    using L = HeadLayout<D>;
    const int t = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
    for (int load = 0; load < L::kValueLoads; ++load) {
#pragma unroll
        for (int first = 0; first < 2 * L::kValueChunk; first += 4) {
            Float4 four;
#pragma unroll
            for (int i = 0; i < 4; ++i) {
                const int column = (first + i) / L::kValueChunk;  // 2t or 2t + 1
                const int e = (first + i) % L::kValueChunk;
                four.value[i] = state.context[load * L::kValueChunk + e][2 * half + column] * factor;
            }
            store_float4(row + load * 8 * L::kValueChunk + 2 * t * L::kValueChunk + first, four);
        }
    }
}

/// Partial results of all units: [unit][16][D] sums of weighted values, then [unit][16][2] (maximum, sum of
/// weights).
struct Partials {
    float* contexts;
    float* statistics;
};
__host__ __device__ Partials partials_of(const AttentionArguments& arguments) {
    const std::int64_t units =
        count_units(arguments.shape, arguments.batch.num_tiles, arguments.num_splits).units;
    return {arguments.partials, arguments.partials + units * kTileRows * arguments.shape.head_dim};
}

template <int D>
__global__ void __launch_bounds__(kWarps* kWarpSize, 2) attention_mma_kernel(AttentionArguments arguments) {
    const int index = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarpSize;
    if (index >= count_units(arguments.shape, arguments.batch.num_tiles, arguments.num_splits).units) return;
    const Unit unit = unit_at(arguments, index);
    const int g = static_cast<int>(threadIdx.x) % kWarpSize / 4;
    const int t = static_cast<int>(threadIdx.x) % 4;
    const RowPlace places[2] = {place_of(arguments, unit, g), place_of(arguments, unit, g + 8)};

    int num_slots = 0;  // seen by the tile
    for (int i = 0; i < unit.tile.num_tokens; ++i) {
        num_slots = max(num_slots, arguments.batch.kv_slots[unit.tile.first_token + i] + 1);
    }
    const int num_steps = ceil_div(num_slots, kStepSlots);
    const int steps_per_split = ceil_div(num_steps, arguments.num_splits);
    const int first_step = unit.split * steps_per_split;
    const int end_step = min(num_steps, first_step + steps_per_split);

    Softmax<D> state;
    if (first_step < end_step) {
        Queries<D> queries;
        load_queries<D>(arguments, places, queries);
        KvReader reader{arguments.cache, block_table_of(arguments.batch, unit.tile.first_token),
                        arguments.layer, unit.kv_head,
                        num_slots,       arguments.cache.block_size % kStepSlots == 0};
        for (int step = first_step; step < end_step; ++step) {
            const int first_slot = step * kStepSlots;
            reader.begin_step(first_slot);
            float scores[2][4] = {};
            Values<D> values;
            load_values<D>(reader, first_slot, values);
            compute_scores<D>(queries, reader, first_slot, scores);
            update_softmax<D>(places, first_slot, scores, state);
            add_values<D>(scores, values, state);
        }
    }

    const float sums[2] = {quad_sum(state.sums[0]), quad_sum(state.sums[1])};
    if (arguments.num_splits == 1) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            if (places[half].last_slot < 0) continue;
            const std::int64_t row =
                std::int64_t{places[half].token} * arguments.shape.num_heads + places[half].head;
            store_row<D>(state, half, 1.0F / sums[half], arguments.context + row * D);
        }
        return;
    }
    const Partials partials = partials_of(arguments);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        const std::int64_t row = std::int64_t{index} * kTileRows + g + 8 * half;
        store_row<D>(state, half, 1.0F, partials.contexts + row * D);
        if (t != 0) continue;
        partials.statistics[2 * row] = state.largest[half];
        partials.statistics[2 * row + 1] = sums[half];
    }
}

/// Joins the parts of each row: one warp per row of a tile, lanes share out the dims.
template <int D>
__global__ void __launch_bounds__(kWarps* kWarpSize) combine_kernel(AttentionArguments arguments) {
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int index = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarpSize;
    const int units_per_split = count_units(arguments.shape, arguments.batch.num_tiles, 1).units;
    if (index >= units_per_split * kTileRows) return;
    const int row = index % kTileRows;
    const int units_per_head = units_per_split / arguments.shape.num_kv_heads;
    const int kv_head = index / kTileRows / units_per_head;
    // The unit of split 0; the next split's unit is units_per_head further.
    const int first_unit =
        kv_head * arguments.num_splits * units_per_head + index / kTileRows % units_per_head;
    const RowPlace place = place_of(arguments, unit_at(arguments, first_unit), row);
    if (place.last_slot < 0) return;

    const Partials partials = partials_of(arguments);
    const auto row_of = [&](int split) {
        return (std::int64_t{first_unit} + std::int64_t{split} * units_per_head) * kTileRows + row;
    };
    float largest = -INFINITY;
    for (int split = 0; split < arguments.num_splits; ++split) {
        largest = fmaxf(largest, partials.statistics[2 * row_of(split)]);
    }
    constexpr int kLaneDims = D < kWarpSize ? 1 : D / kWarpSize;
    float sum = 0.0F;
    float context[kLaneDims] = {};
    for (int split = 0; split < arguments.num_splits; ++split) {
        const float weight = exp2f(partials.statistics[2 * row_of(split)] - largest);  // 0 for an empty part
        sum += weight * partials.statistics[2 * row_of(split) + 1];
#pragma unroll
        for (int v = 0; v < kLaneDims; ++v) {
            const int dim = lane + v * kWarpSize;
            if (dim < D) context[v] += weight * partials.contexts[row_of(split) * D + dim];
        }
    }
    float* output =
        arguments.context + (std::int64_t{place.token} * arguments.shape.num_heads + place.head) * D;
#pragma unroll
    for (int v = 0; v < kLaneDims; ++v) {
        const int dim = lane + v * kWarpSize;
        if (dim < D) output[dim] = context[v] / sum;
    }
}

LaunchCfg warps(std::int64_t num_warps, cudaStream_t stream) {
    return {static_cast<unsigned>(ceil_div(num_warps, std::int64_t{kWarps})), kWarps * kWarpSize, 0, stream};
}

template <int D>
cudaError_t launch_attention(const AttentionArguments& arguments, cudaStream_t stream) {
    const std::int64_t units =
        count_units(arguments.shape, arguments.batch.num_tiles, arguments.num_splits).units;
    const cudaError_t launched = launch(attention_mma_kernel<D>, warps(units, stream), arguments);
    if (launched != cudaSuccess || arguments.num_splits == 1) return launched;
    return launch(combine_kernel<D>, warps(units / arguments.num_splits * kTileRows, stream), arguments);
}

}  // namespace

std::int32_t attention_tokens_per_tile(const AttentionShape& shape) {
    return std::max(1, kTileRows / (shape.num_heads / shape.num_kv_heads));
}

bool attention_mma_supports(const AttentionShape& shape, const KvCacheView& cache) {
    const bool known_head =
        shape.head_dim == 16 || shape.head_dim == 32 || shape.head_dim == 64 || shape.head_dim == 128;
    return known_head && cache.type == ElementType::kFloat16;
}

std::int64_t attention_partial_floats(const AttentionShape& shape, std::int32_t num_tiles,
                                      std::int32_t num_splits) {
    if (num_splits == 1) return 0;
    return std::int64_t{count_units(shape, num_tiles, num_splits).units} * kTileRows * (shape.head_dim + 2);
}

cudaError_t attention_mma(const AttentionArguments& arguments, cudaStream_t stream) {
    if (arguments.batch.num_tokens == 0) return cudaSuccess;
    if (!attention_mma_supports(arguments.shape, arguments.cache)) return cudaErrorInvalidValue;
    switch (arguments.shape.head_dim) {
        case 16:
            return launch_attention<16>(arguments, stream);
        case 32:
            return launch_attention<32>(arguments, stream);
        case 64:
            return launch_attention<64>(arguments, stream);
        default:
            return launch_attention<128>(arguments, stream);
    }
}

}  // namespace glmchat::kernels::cuda
