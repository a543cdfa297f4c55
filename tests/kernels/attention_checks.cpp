#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/kernels/check_parts.h"
#include "tests/kernels/test_batch.h"

#include "kernels/cpu/cpu_backend.h"
#include "kernels/half.h"
#include "kernels/rotary.h"

namespace glmchat::test {
namespace {

using kernels::AttentionShape;
using kernels::Backend;
using kernels::ElementType;
using kernels::IsaLevel;
using kernels::KvCacheView;

constexpr int kNumLayers = 2;
constexpr int kLayer = 1;  // the second, so that a wrong layer offset shows

/// What both backends start from.
struct Case {
    AttentionShape shape;
    ElementType kv_type;
    std::int32_t block_size;
    TestBatch batch;
    std::vector<float> qkv;
    std::vector<std::byte> cache;
    std::vector<float> cos_sin;

    KvCacheView cache_view(void* data) const {
        return {data,          kv_type, kNumLayers, batch.num_blocks(), block_size, shape.num_kv_heads,
                shape.head_dim};
    }
    std::int32_t rotary_dim() const { return shape.head_dim / 2; }
};

std::vector<std::byte> random_cache(const KvCacheView& view, RandomData& random) {
    const std::int64_t count =
        std::int64_t{view.num_layers} * view.num_blocks * 2 * view.half_block_elements();
    const std::vector<float> values = random.normal(count);
    std::vector<std::byte> bytes(kernels::element_bytes(view.type, count));
    for (std::size_t i = 0; i < values.size(); ++i) {
        const std::uint16_t half = kernels::float_to_half(values[i]);
        if (view.type == ElementType::kFloat16) {
            std::memcpy(&bytes[2 * i], &half, 2);
        } else {
            std::memcpy(&bytes[4 * i], &values[i], 4);
        }
    }
    return bytes;
}

Case make_case(AttentionShape shape, ElementType kv_type, std::int32_t block_size,
               const std::vector<SequencePlan>& sequences) {
    RandomData random(static_cast<std::uint32_t>(shape.num_heads * 1000 + shape.head_dim + block_size));
    Case data = {shape, kv_type, block_size, TestBatch(sequences, block_size, random), {}, {}, {}};
    // Queries and keys of size 1.5 give scores around 2.2: a softmax that is neither flat nor a single spike.
    data.qkv = random.normal(data.batch.view().num_tokens() * shape.qkv_cols(), 1.5F);
    data.cache = random_cache(data.cache_view(nullptr), random);
    data.cos_sin =
        kernels::compute_rotary_table(data.batch.num_positions(), data.rotary_dim(), 10000.0F, 1.0F);
    return data;
}

struct Outcome {
    std::vector<float> qkv;
    std::vector<float> cache;
    std::vector<float> context;
};

/// Cache elements as float32, whatever they are stored in.
std::vector<float> widen_cache(const std::vector<std::byte>& bytes, ElementType type) {
    std::vector<float> values(bytes.size() / (type == ElementType::kFloat16 ? 2 : 4));
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (type == ElementType::kFloat32) {
            std::memcpy(&values[i], &bytes[4 * i], 4);
            continue;
        }
        std::uint16_t half = 0;
        std::memcpy(&half, &bytes[2 * i], 2);
        values[i] = kernels::half_to_float(half);
    }
    return values;
}

Outcome run_case(Backend& backend, const Case& data) {
    const kernels::RaggedBatch batch = data.batch.view();
    const kernels::Buffer qkv = upload(backend, data.qkv);
    const kernels::Buffer cos_sin = upload(backend, data.cos_sin);
    const kernels::Buffer cache = backend.allocate(data.cache.size());
    backend.upload(cache.data(), data.cache.data(), data.cache.size());
    const std::int64_t context_count = batch.num_tokens() * data.shape.query_cols();
    const kernels::Buffer context = backend.allocate(static_cast<std::size_t>(context_count) * sizeof(float));
    const kernels::Tensor qkv_tensor = float_matrix(qkv, batch.num_tokens(), data.shape.qkv_cols());
    const KvCacheView view = data.cache_view(cache.data());
    backend.begin_forward(batch);
    backend.rotary_kv_write(qkv_tensor, data.shape,
                            {cos_sin.as_float(), data.batch.num_positions(), data.rotary_dim()}, batch, view,
                            kLayer);
    backend.attention(qkv_tensor, data.shape, batch, view, kLayer,
                      float_matrix(context, batch.num_tokens(), data.shape.query_cols()));
    std::vector<std::byte> cache_bytes(data.cache.size());
    backend.download(cache_bytes.data(), cache.data(), cache_bytes.size());
    return {download(backend, qkv, static_cast<std::int64_t>(data.qkv.size())),
            widen_cache(cache_bytes, data.kv_type), download(backend, context, context_count)};
}

/// Rotation: two products and a sum of float32, fused or not: 2 units in the last place of numbers up to
/// about 8. Cache: the same, and where that crosses a rounding boundary of float16, one unit of that (2^-11
/// relative, 2^-24 least). Context: a score of size s = |q . k| / sqrt(d) carries an error of about 2^-24 * s
/// * sqrt(d), s up to 20 here, which changes a softmax weight by that relative amount; keys that rounded
/// differently to float16 add one part in 2^11 of one product of a score. Values are up to 8.
std::string compare_outcomes(const Outcome& actual, const Outcome& expected, ElementType kv_type,
                             double& largest) {
    const auto flat = [](double tolerance) { return [tolerance](std::size_t) { return tolerance; }; };
    std::string difference = compare(actual.qkv, expected.qkv, flat(2 * 8 * 0x1p-23), largest);
    if (!difference.empty()) return "rotated qkv: " + difference;
    const double relative = kv_type == ElementType::kFloat16 ? 0x1p-10 : 0x1p-21;
    difference = compare(
        actual.cache, expected.cache,
        [&](std::size_t i) { return relative * std::abs(double{expected.cache[i]}) + 0x1p-20; }, largest);
    if (!difference.empty()) return "cache: " + difference;
    difference = compare(actual.context, expected.context,
                         flat(kv_type == ElementType::kFloat16 ? 1e-3 : 3e-5), largest);
    return difference.empty() ? std::string() : "context: " + difference;
}

struct NamedBatch {
    const char* name;
    std::int32_t block_size;
    std::vector<SequencePlan> sequences;
};

const std::vector<NamedBatch>& batches() {
    static const std::vector<NamedBatch> kBatches = {
        {"first token of all", 16, {{0, 1}}},
        {"decode", 16, {{37, 1}}},
        {"prefill", 16, {{0, 70}}},
        {"prefill on a kept prefix", 16, {{33, 21}}},
        {"prompt on a P-Tuning prefix", 16, {{9, 12, 9}}},
        {"block boundaries", 16, {{15, 1}, {16, 1}, {17, 1}, {0, 16}, {0, 17}, {16, 16}}},
        {"odd blocks", 7, {{20, 1}, {6, 8}, {0, 3}}},
        {"decode and prefill mixed", 16, {{100, 1}, {0, 40}, {5, 1}, {64, 9}, {47, 1}, {48, 1}}},
    };
    return kBatches;
}

/// Contexts that are cut into spans, and one that is long but not cut because it has many query tiles.
const std::vector<NamedBatch>& long_batches() {
    static const std::vector<NamedBatch> kBatches = {
        {"long decode", 32, {{1500, 1}}},
        {"span boundaries", 32, {{479, 1}, {480, 1}, {481, 1}, {960, 1}}},
        {"long context, some tokens", 32, {{950, 12}, {3, 1}}},
        {"long context, many tokens", 32, {{500, 300}}},
    };
    return kBatches;
}

CheckResult check_batches(IsaLevel level, AttentionShape shape, ElementType kv_type,
                          const std::vector<NamedBatch>& named_batches) {
    const auto backend = kernels::make_cpu_backend(2, level);
    const auto reference = kernels::make_reference_backend();
    double largest = 0.0;
    for (const NamedBatch& named : named_batches) {
        const Case data = make_case(shape, kv_type, named.block_size, named.sequences);
        const std::string difference =
            compare_outcomes(run_case(*backend, data), run_case(*reference, data), kv_type, largest);
        if (!difference.empty()) return failed(std::string(named.name) + ": " + difference);
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

CheckResult check_thread_counts(IsaLevel level) {
    const auto backend = kernels::make_cpu_backend(1, level);
    const Case data = make_case({8, 2, 32}, ElementType::kFloat16, 16, {{1100, 1}, {0, 90}, {600, 7}});
    const Outcome expected = run_case(*backend, data);
    for (const int num_threads : {2, 3, 5}) {
        backend->set_num_threads(num_threads);
        if (run_case(*backend, data).context != expected.context) {
            return failed("differs with " + std::to_string(num_threads) + " threads");
        }
    }
    return passed();
}

/// The keys and values of a P-Tuning prefix arrive where the reference puts them, and nowhere else.
CheckResult check_prefix_kv(IsaLevel level, ElementType kv_type) {
    const AttentionShape shape = {4, 2, 20};
    const Case data = make_case(shape, kv_type, 16, {{0, 40}});
    constexpr std::int32_t kPrefixSlots = 35;
    RandomData random(3);
    const std::vector<float> keys = random.normal(kPrefixSlots * shape.num_kv_heads * shape.head_dim);
    const std::vector<float> values = random.normal(kPrefixSlots * shape.num_kv_heads * shape.head_dim);
    std::vector<std::vector<float>> caches;
    for (const bool use_reference : {true, false}) {
        const auto backend =
            use_reference ? kernels::make_reference_backend() : kernels::make_cpu_backend(2, level);
        const kernels::Buffer cache = backend->allocate(data.cache.size());
        backend->write_prefix_kv(data.cache_view(cache.data()), kLayer, data.batch.view().block_tables,
                                 keys.data(), values.data(), kPrefixSlots);
        std::vector<std::byte> bytes(data.cache.size());
        backend->download(bytes.data(), cache.data(), bytes.size());
        caches.push_back(widen_cache(bytes, kv_type));
    }
    return caches[0] == caches[1] ? passed() : failed("caches differ");
}

std::string shape_name(AttentionShape shape) {
    return std::to_string(shape.num_heads) + " heads, " + std::to_string(shape.num_kv_heads) + " kv, dim " +
           std::to_string(shape.head_dim);
}

}  // namespace

std::vector<Check> attention_checks() {
    std::vector<Check> checks;
    for (const ElementType kv_type : {ElementType::kFloat32, ElementType::kFloat16}) {
        const std::string type_name = kv_type == ElementType::kFloat32 ? "fp32 cache, " : "fp16 cache, ";
        // One head; all head sizes; groups of 1, 2, 3, 16 and more than fit a tile; a head that is no whole
        // vector.
        for (const AttentionShape shape : {AttentionShape{1, 1, 16},
                                           {4, 2, 32},
                                           {6, 2, 64},
                                           {32, 2, 128},
                                           {5, 5, 32},
                                           {70, 1, 16},
                                           {4, 2, 20}}) {
            add_per_isa(checks, "attention/" + type_name + shape_name(shape),
                        [=](IsaLevel level) { return check_batches(level, shape, kv_type, batches()); });
        }
        add_per_isa(checks, "attention/" + type_name + "long contexts", [=](IsaLevel level) {
            return check_batches(level, {8, 2, 64}, kv_type, long_batches());
        });
        add_per_isa(checks, "attention/" + type_name + "P-Tuning prefix",
                    [=](IsaLevel level) { return check_prefix_kv(level, kv_type); });
    }
    add_per_isa(checks, "attention/same result for any number of threads", check_thread_counts);
    return checks;
}

}  // namespace glmchat::test
