#include <algorithm>
#include <cmath>

#include "tests/kernels/cuda/cuda_check_parts.h"
#include "tests/kernels/cuda/device_data.h"

#include "kernels/reference/ops.h"

namespace glmchat::test {
namespace {

using kernels::AttentionShape;
using kernels::ElementType;
using kernels::KvCacheView;
using kernels::cuda::AttentionArguments;

constexpr std::int32_t kLayers = 2;
constexpr std::int32_t kLayer = 1;

struct NamedBatch {
    const char* name;
    std::int32_t block_size;
    std::vector<SequencePlan> sequences;
};

const std::vector<NamedBatch>& batches() {
    static const std::vector<NamedBatch> kBatches = {
        {"first token of all", 16, {{0, 1}}},
        {"decode", 16, {{37, 1}}},
        {"prefill", 16, {{0, 35}}},
        {"prefill on a kept prefix", 16, {{33, 21}}},
        {"step and block boundaries", 16, {{14, 1}, {15, 1}, {16, 1}, {0, 16}, {0, 17}, {16, 16}}},
        {"large blocks", 64, {{62, 3}, {64, 1}}},
        {"odd blocks", 7, {{20, 1}, {6, 8}, {0, 3}}},
        {"small blocks", 4, {{30, 2}, {3, 2}}},
        {"decode and prefill mixed", 16, {{100, 1}, {0, 20}, {5, 1}, {64, 9}, {47, 1}, {48, 1}}},
    };
    return kBatches;
}

using AttentionOp = cudaError_t (*)(const AttentionArguments& arguments, cudaStream_t stream);

/// The cache's numbers are the same on both sides. A score q . k / sqrt(d) carries an error of about 2^-22 *
/// sum |q k| / sqrt(d), 11 * 2^-22 here for d = 128, and changes its weight by that relative amount; values
/// are up to 5. Plain halves of q would be off by 500 times as much.
constexpr double kTolerance = 2e-5;

/// NaN wherever no token of the batch may look: what has weight 0 must not be read either, as 0 * NaN is NaN.
std::vector<std::byte> visible_cache(const KvCacheView& view, const kernels::RaggedBatch& batch,
                                     RandomData& random) {
    const std::vector<std::byte> numbers = random_cache(view, random);
    std::vector<std::byte> cache(numbers.size(), std::byte{0xFF});  // all bits set: NaN in either type
    const std::size_t row_bytes = kernels::element_bytes(view.type, view.head_dim);
    for (std::int32_t sequence = 0; sequence < batch.num_sequences(); ++sequence) {
        const auto last_token =
            static_cast<std::size_t>(batch.query_starts[static_cast<std::size_t>(sequence) + 1] - 1);
        for (std::int32_t slot = 0; slot <= batch.kv_slots[last_token]; ++slot) {
            const auto table = static_cast<std::size_t>(sequence * batch.max_blocks_per_sequence);
            const std::int32_t block =
                batch.block_tables[table + static_cast<std::size_t>(slot / view.block_size)];
            for (std::int32_t i = 0; i < 2 * view.num_kv_heads; ++i) {
                const std::int64_t element = view.offset(kLayer, block, i % 2, i / 2, slot % view.block_size);
                const std::size_t first = kernels::element_bytes(view.type, element);
                std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(first), row_bytes,
                            cache.begin() + static_cast<std::ptrdiff_t>(first));
            }
        }
    }
    return cache;
}

std::string check_batch(AttentionOp op, AttentionShape shape, ElementType kv_type, const NamedBatch& named,
                        std::int32_t num_splits, float query_size, double tolerance, double& largest) {
    const Stream stream;
    RandomData random(static_cast<std::uint32_t>(shape.num_heads * 1000 + shape.head_dim + named.block_size));
    const TestBatch batch(named.sequences, named.block_size, random);
    const std::int64_t rows = batch.view().num_tokens();
    KvCacheView cache = {
        nullptr, kv_type, kLayers, batch.num_blocks(), named.block_size, shape.num_kv_heads, shape.head_dim};
    std::vector<std::byte> cache_bytes = visible_cache(cache, batch.view(), random);
    std::vector<float> qkv = random.normal(rows * shape.qkv_cols(), query_size);
    std::vector<float> expected(static_cast<std::size_t>(rows * shape.query_cols()));

    const DeviceArray<float> device_qkv(qkv, stream);
    const DeviceArray<std::byte> device_cache(cache_bytes, stream);
    const DeviceBatchArrays device_batch(batch.view(), kernels::cuda::attention_tokens_per_tile(shape),
                                         stream);
    const DeviceArray<float> context(expected.size());
    const DeviceArray<float> partials(static_cast<std::size_t>(
        kernels::cuda::attention_partial_floats(shape, device_batch.view().num_tiles, num_splits)));
    AttentionArguments arguments;
    arguments.qkv = device_qkv.data();
    arguments.context = context.data();
    arguments.shape = shape;
    arguments.batch = device_batch.view();
    arguments.cache = cache;
    arguments.cache.data = device_cache.data();
    arguments.layer = kLayer;
    arguments.num_splits = num_splits;
    arguments.partials = partials.data();
    require(op(arguments, stream));

    cache.data = cache_bytes.data();
    kernels::reference::attention(host_matrix(qkv, rows, shape.qkv_cols()), shape, batch.view(), cache,
                                  kLayer, host_matrix(expected, rows, shape.query_cols()));
    const std::string difference = compare(
        context.download(stream), expected, [=](std::size_t) { return tolerance; }, largest);
    return difference.empty()
               ? difference
               : std::string(named.name) + ", " + std::to_string(num_splits) + " parts: " + difference;
}

CheckResult check_batches(AttentionOp op, AttentionShape shape, ElementType kv_type,
                          const std::vector<NamedBatch>& named_batches,
                          const std::vector<std::int32_t>& splits) {
    double largest = 0.0;
    for (const NamedBatch& named : named_batches) {
        for (const std::int32_t num_splits : splits) {
            const std::string difference =
                check_batch(op, shape, kv_type, named, num_splits, 1.5F, kTolerance, largest);
            if (!difference.empty()) return failed(difference);
        }
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

/// Scores in the hundreds: nearly all weights underflow, the running maximum jumps, nothing becomes NaN.
/// Scores are 27 times the usual ones and so are their errors, which a near-tie of two slots shows in full.
CheckResult check_peaked(AttentionOp op) {
    double largest = 0.0;
    for (const std::int32_t num_splits : {1, 3}) {
        const std::string difference =
            check_batch(op, {16, 1, 64}, ElementType::kFloat16, {"peaked", 16, {{150, 2}, {0, 5}}},
                        num_splits, 40.0F, 27 * kTolerance, largest);
        if (!difference.empty()) return failed(difference);
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

std::string shape_name(AttentionShape shape) {
    return std::to_string(shape.num_heads) + " heads, " + std::to_string(shape.num_kv_heads) + " kv, dim " +
           std::to_string(shape.head_dim);
}

// Many parts for few steps: some are empty.
const std::vector<std::int32_t> kSplits = {1, 2, 7};

const std::vector<NamedBatch>& long_batches() {
    static const std::vector<NamedBatch> kBatches = {{"long decode", 32, {{700, 1}, {3, 1}}}};
    return kBatches;
}

}  // namespace

std::vector<Check> cuda_attention_checks() {
    using kernels::cuda::attention_generic;
    using kernels::cuda::attention_mma;
    std::vector<Check> checks;
    // One head; all head sizes; 1, 2, 3, 4, 16 heads per KV head and more than fit a tile.
    for (const AttentionShape shape : {AttentionShape{1, 1, 16},
                                       {6, 2, 16},
                                       {8, 2, 32},
                                       {5, 5, 32},
                                       {6, 2, 64},
                                       {32, 2, 128},
                                       {4, 2, 128},
                                       {35, 1, 16}}) {
        checks.push_back(
            {"attention/mma " + shape_name(shape),
             [=] { return check_batches(attention_mma, shape, ElementType::kFloat16, batches(), kSplits); }});
    }
    checks.push_back({"attention/mma long", [] {
                          return check_batches(attention_mma, {16, 1, 64}, ElementType::kFloat16,
                                               long_batches(), {1, 7, 32});
                      }});
    checks.push_back({"attention/mma peaked scores", [] { return check_peaked(attention_mma); }});
    for (const ElementType kv_type : {ElementType::kFloat32, ElementType::kFloat16}) {
        const std::string type_name = kv_type == ElementType::kFloat32 ? "fp32 cache, " : "fp16 cache, ";
        for (const AttentionShape shape :
             {AttentionShape{1, 1, 8}, {4, 2, 20}, {8, 2, 32}, {32, 2, 128}, {2, 1, 256}}) {
            checks.push_back({"attention/generic " + type_name + shape_name(shape), [=] {
                                  return check_batches(attention_generic, shape, kv_type, batches(), {1});
                              }});
        }
    }
    checks.push_back({"attention/generic peaked scores", [] { return check_peaked(attention_generic); }});
    return checks;
}

}  // namespace glmchat::test
