#include <cmath>

#include "tests/kernels/cuda/cuda_check_parts.h"
#include "tests/kernels/cuda/device_data.h"

#include "kernels/reference/ops.h"
#include "kernels/rotary.h"

namespace glmchat::test {
namespace {

using kernels::AttentionShape;
using kernels::ElementType;
using kernels::KvCacheView;

constexpr std::int32_t kLayers = 2;
constexpr std::int32_t kLayer = 1;  // the second, so that a wrong layer offset shows

const std::vector<std::vector<SequencePlan>>& batches() {
    static const std::vector<std::vector<SequencePlan>> kBatches = {
        {{0, 1}}, {{37, 1}}, {{33, 21}}, {{9, 12, 9}}, {{15, 1}, {16, 1}, {17, 1}, {0, 17}}};
    return kBatches;
}

/// Two products and a sum of float32, fused or not: 2 units in the last place of numbers up to about 8. In
/// an FP16 cache one unit of that, where the difference crosses a rounding boundary.
std::string check_batch(AttentionShape shape, ElementType kv_type, std::int32_t block_size,
                        const std::vector<SequencePlan>& sequences, double& largest) {
    const Stream stream;
    RandomData random(static_cast<std::uint32_t>(shape.head_dim + block_size));
    const TestBatch batch(sequences, block_size, random);
    const std::int64_t rows = batch.view().num_tokens();
    const std::int32_t rotary_dim = shape.head_dim / 2;
    KvCacheView cache = {nullptr,       kv_type, kLayers, batch.num_blocks(), block_size, shape.num_kv_heads,
                         shape.head_dim};
    std::vector<float> qkv = random.normal(rows * shape.qkv_cols());
    std::vector<std::byte> cache_bytes = random_cache(cache, random);
    const std::vector<float> cos_sin =
        kernels::compute_rotary_table(batch.num_positions(), rotary_dim, 10000.0F, 1.0F);

    const DeviceArray<float> device_qkv(qkv, stream);
    const DeviceArray<std::byte> device_cache(cache_bytes, stream);
    const DeviceArray<float> device_cos_sin(cos_sin, stream);
    const DeviceBatchArrays device_batch(batch.view(), 1, stream);
    KvCacheView device_view = cache;
    device_view.data = device_cache.data();
    require(kernels::cuda::rotary_kv_write(device_qkv.data(),
                                           {shape,
                                            {device_cos_sin.data(), batch.num_positions(), rotary_dim},
                                            device_batch.view(),
                                            device_view,
                                            kLayer},
                                           stream));

    cache.data = cache_bytes.data();
    kernels::reference::rotary_kv_write(host_matrix(qkv, rows, shape.qkv_cols()), shape,
                                        {cos_sin.data(), batch.num_positions(), rotary_dim}, batch.view(),
                                        cache, kLayer);
    const std::string difference = compare(
        device_qkv.download(stream), qkv, [](std::size_t) { return 2 * 8 * 0x1p-23; }, largest);
    if (!difference.empty()) return "qkv: " + difference;
    const std::vector<float> expected = widen_cache(cache_bytes, kv_type);
    const double relative = kv_type == ElementType::kFloat16 ? 0x1p-10 : 0x1p-21;
    const std::string cache_difference = compare(
        widen_cache(device_cache.download(stream), kv_type), expected,
        [&](std::size_t i) { return relative * std::abs(double{expected[i]}) + 0x1p-20; }, largest);
    return cache_difference.empty() ? cache_difference : "cache: " + cache_difference;
}

CheckResult check_rotary(ElementType kv_type) {
    double largest = 0.0;
    // One head; heads of models and of test models; a head that is no power of two.
    for (const AttentionShape shape :
         {AttentionShape{1, 1, 8}, {2, 1, 16}, {8, 2, 32}, {6, 2, 64}, {32, 2, 128}, {4, 2, 20}}) {
        for (const std::int32_t block_size : {16, 7}) {
            for (const std::vector<SequencePlan>& sequences : batches()) {
                const std::string difference = check_batch(shape, kv_type, block_size, sequences, largest);
                if (!difference.empty())
                    return failed("dim " + std::to_string(shape.head_dim) + ", " + difference);
            }
        }
    }
    return passed("largest error " + std::to_string(largest) + " of the tolerance");
}

/// The keys and values of a P-Tuning prefix arrive where the reference puts them, and nowhere else.
CheckResult check_prefix(ElementType kv_type) {
    const Stream stream;
    const AttentionShape shape = {4, 2, 20};
    constexpr std::int32_t kSlots = 35;
    RandomData random(3);
    const TestBatch batch({{0, 40}}, 16, random);
    KvCacheView cache = {nullptr,       kv_type, kLayers, batch.num_blocks(), 16, shape.num_kv_heads,
                         shape.head_dim};
    std::vector<std::byte> cache_bytes = random_cache(cache, random);
    const std::vector<float> keys = random.normal(kSlots * shape.num_kv_heads * shape.head_dim);
    const std::vector<float> values = random.normal(kSlots * shape.num_kv_heads * shape.head_dim);

    const DeviceArray<std::byte> device_cache(cache_bytes, stream);
    const DeviceArray<float> device_keys(keys, stream);
    const DeviceArray<float> device_values(values, stream);
    const DeviceArray<std::int32_t> block_table(batch.view().block_tables, stream);
    KvCacheView device_view = cache;
    device_view.data = device_cache.data();
    require(kernels::cuda::write_prefix_kv(device_view, kLayer, block_table.data(), device_keys.data(),
                                           device_values.data(), kSlots, stream));
    cache.data = cache_bytes.data();
    kernels::reference::write_prefix_kv(cache, kLayer, batch.view().block_tables, keys.data(), values.data(),
                                        kSlots);
    return device_cache.download(stream) == cache_bytes ? passed() : failed("caches differ");
}

}  // namespace

std::vector<Check> cuda_rotary_checks() {
    return {{"rotary/fp32 cache", [] { return check_rotary(ElementType::kFloat32); }},
            {"rotary/fp16 cache", [] { return check_rotary(ElementType::kFloat16); }},
            {"rotary/P-Tuning prefix, fp32 cache", [] { return check_prefix(ElementType::kFloat32); }},
            {"rotary/P-Tuning prefix, fp16 cache", [] { return check_prefix(ElementType::kFloat16); }}};
}

}  // namespace glmchat::test
