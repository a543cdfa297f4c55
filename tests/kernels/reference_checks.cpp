#include <cmath>

#include "tests/kernels/check_parts.h"
#include "tests/kernels/test_data.h"

#include "kernels/backend.h"
#include "kernels/half.h"

/// The oracle against numbers that were worked out on paper.
namespace glmchat::test {
namespace {

using kernels::Backend;
using kernels::ElementType;
using kernels::LinearWeight;
using kernels::RaggedBatch;
using kernels::ScaleLayout;

CheckResult expect(const std::vector<float>& actual, const std::vector<float>& expected,
                   double tolerance = 0.0) {
    double largest = 0.0;
    const std::string difference = compare(
        actual, expected, [&](std::size_t) { return tolerance + 0x1p-149; }, largest);
    return difference.empty() ? passed() : failed(difference);
}

std::vector<float> linear(const LinearWeight& weight, const std::vector<float>& x,
                          const std::vector<float>& bias) {
    const auto backend = kernels::make_reference_backend();
    const auto rows = static_cast<std::int64_t>(x.size()) / weight.in_features;
    const kernels::Buffer x_buffer = upload(*backend, x);
    const kernels::Buffer bias_buffer = upload(*backend, bias);
    const kernels::Buffer y =
        backend->allocate(static_cast<std::size_t>(rows * weight.out_features) * sizeof(float));
    backend->linear(float_matrix(x_buffer, rows, weight.in_features), weight,
                    bias.empty() ? nullptr : bias_buffer.as_float(),
                    float_matrix(y, rows, weight.out_features));
    return download(*backend, y, rows * weight.out_features);
}

LinearWeight make_weight(ElementType type, const void* data, std::int64_t out_features,
                         std::int64_t in_features) {
    LinearWeight weight;
    weight.type = type;
    weight.data = data;
    weight.out_features = out_features;
    weight.in_features = in_features;
    return weight;
}

/// Two rows of x, two of w: y = x w^T + bias.
CheckResult check_linear_float() {
    const float data[] = {1, 2, 3, -1, 0.5F, 0};
    const LinearWeight weight = make_weight(ElementType::kFloat32, data, 2, 3);
    return expect(linear(weight, {1, 1, 1, 2, 0, -1}, {10, 20}), {16, 19.5F, 9, 18});
}

CheckResult check_linear_half() {
    const std::uint16_t half[] = {0x3C00, 0xC000, 0x0001};    // 1, -2, 2^-24
    const std::uint16_t bfloat[] = {0x3F80, 0xC000, 0x4049};  // 1, -2, 3.140625
    const CheckResult result =
        expect(linear(make_weight(ElementType::kFloat16, half, 1, 3), {4, 1, 0x1p24F}, {}), {3});
    if (result.outcome != CheckResult::Outcome::kPassed) return result;
    return expect(linear(make_weight(ElementType::kBFloat16, bfloat, 1, 3), {4, 1, 1}, {}), {5.140625F});
}

CheckResult check_linear_int8() {
    const std::int8_t data[] = {127, -128, 1, 2};
    const float scales[] = {0.5F, 2.0F};
    LinearWeight weight = make_weight(ElementType::kInt8, data, 2, 2);
    weight.scale_layout = ScaleLayout::kPerRow;
    weight.scale_type = ElementType::kFloat32;
    weight.scales = scales;
    return expect(linear(weight, {1, 1}, {}), {-0.5F, 6});
}

/// The even column is the high nibble: 0x1F is (1, -1), 0x87 is (-8, 7).
CheckResult check_int4_nibble_order() {
    const std::uint8_t data[] = {0x1F, 0x87};
    const std::uint16_t scales[] = {kernels::float_to_half(0.25F)};
    LinearWeight weight = make_weight(ElementType::kInt4, data, 1, 4);
    weight.scale_layout = ScaleLayout::kPerRow;
    weight.scales = scales;
    return expect(linear(weight, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, {}),
                  {0.25F, -0.25F, -2, 1.75F});
}

/// Two groups of two columns, then a last one of one group only: scales [rows, groups].
CheckResult check_group_scales() {
    const std::int8_t data[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const float scales[] = {1, 10, 100, 2, 20, 200};
    LinearWeight weight = make_weight(ElementType::kInt8, data, 2, 5);
    weight.scale_layout = ScaleLayout::kPerGroup;
    weight.scale_type = ElementType::kFloat32;
    weight.group_size = 2;
    weight.scales = scales;
    return expect(linear(weight, {1, 1, 1, 1, 1}, {}), {122, 244});
}

CheckResult check_rms_norm() {
    const auto backend = kernels::make_reference_backend();
    // mean(x^2) = (1 + 49) / 2 = 25, so x / 5 with eps = 0.
    const kernels::Buffer x = upload(*backend, std::vector<float>{1, 7});
    const kernels::Buffer weight = upload(*backend, std::vector<float>{5, 10});
    backend->rms_norm(float_matrix(x, 1, 2), weight.as_float(), 0.0F, float_matrix(x, 1, 2));
    return expect(download(*backend, x, 2), {1, 14}, 1e-6);
}

CheckResult check_add_rms_norm() {
    const auto backend = kernels::make_reference_backend();
    const kernels::Buffer residual = upload(*backend, std::vector<float>{0, 3});
    const kernels::Buffer delta = upload(*backend, std::vector<float>{1, 4});
    const kernels::Buffer weight = upload(*backend, std::vector<float>{5, 10});
    backend->add_rms_norm(float_matrix(residual, 1, 2), float_matrix(delta, 1, 2), weight.as_float(), 0.0F,
                          float_matrix(delta, 1, 2));
    const CheckResult result = expect(download(*backend, residual, 2), {1, 7});
    if (result.outcome != CheckResult::Outcome::kPassed) return result;
    return expect(download(*backend, delta, 2), {1, 14}, 1e-6);
}

/// silu(0) = 0; silu(ln 3) = ln 3 * 3/4; the gate is the first half.
CheckResult check_swiglu() {
    const auto backend = kernels::make_reference_backend();
    const float ln3 = std::log(3.0F);
    const kernels::Buffer gate_up = upload(*backend, std::vector<float>{0, ln3, 7, 4});
    const kernels::Buffer y = backend->allocate(2 * sizeof(float));
    backend->swiglu(float_matrix(gate_up, 1, 4), float_matrix(y, 1, 2));
    return expect(download(*backend, y, 2), {0, 3 * ln3}, 1e-6);
}

CheckResult check_gather_rows() {
    const auto backend = kernels::make_reference_backend();
    const kernels::Buffer x = upload(*backend, std::vector<float>{1, 2, 3, 4, 5, 6});
    const kernels::Buffer y = backend->allocate(6 * sizeof(float));
    backend->gather_rows(float_matrix(x, 3, 2), std::vector<std::int32_t>{2, 0, 2}, float_matrix(y, 3, 2));
    return expect(download(*backend, y, 6), {5, 6, 1, 2, 5, 6});
}

CheckResult check_embedding() {
    const auto backend = kernels::make_reference_backend();
    const float table[] = {1, 2, 3, 4, 5, 6};
    const std::vector<std::int32_t> token_ids = {2, 0};
    RaggedBatch batch;
    batch.token_ids = token_ids;
    const kernels::Buffer hidden_states = backend->allocate(4 * sizeof(float));
    backend->embedding(make_weight(ElementType::kFloat32, table, 3, 2), batch,
                       float_matrix(hidden_states, 2, 2));
    return expect(download(*backend, hidden_states, 4), {5, 6, 1, 2});
}

/// Two sequences of head_dim 4 with a cache of three blocks of two slots; sequence 1 owns blocks 2 and 0.
struct TinyCache {
    std::unique_ptr<Backend> backend = kernels::make_reference_backend();
    kernels::Buffer memory = backend->allocate(3 * 2 * 2 * 4 * sizeof(float));
    kernels::KvCacheView view = {memory.data(), ElementType::kFloat32, 1, 3, 2, 1, 4};
    std::vector<std::int32_t> block_tables = {1, -1, 2, 0};
    std::vector<std::int32_t> token_ids;
    std::vector<std::int32_t> positions;
    std::vector<std::int32_t> sequence_ids;
    std::vector<std::int32_t> kv_slots;
    std::vector<std::int32_t> query_starts;

    RaggedBatch batch() const {
        return {token_ids, positions, sequence_ids, kv_slots, query_starts, block_tables, 2};
    }
    float* row(int block, int part, int slot) {
        return memory.as_float() + view.offset(0, block, part, 0, slot);
    }
};

/// Pair (0, 1) turns by 90 degrees at position 3; dims 2 and 3 pass through; the value is never turned. The
/// key and the value go to slot 2 of sequence 1: its second block, which is block 0.
CheckResult check_rotary_kv_write() {
    TinyCache cache;
    cache.token_ids = {0};
    cache.positions = {3};
    cache.sequence_ids = {1};
    cache.kv_slots = {2};
    cache.query_starts = {0, 0, 1};
    std::vector<float> cos_sin(4 * 2, 99.0F);
    cos_sin[6] = 0.0F;  // position 3: cos 90, sin 90
    cos_sin[7] = 1.0F;
    const kernels::Buffer qkv =
        upload(*cache.backend, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
    cache.backend->rotary_kv_write(float_matrix(qkv, 1, 12), {1, 1, 4}, {cos_sin.data(), 4, 2}, cache.batch(),
                                   cache.view, 0);
    const CheckResult result =
        expect(download(*cache.backend, qkv, 12), {-2, 1, 3, 4, -6, 5, 7, 8, 9, 10, 11, 12});
    if (result.outcome != CheckResult::Outcome::kPassed) return result;
    std::vector<float> expected(3 * 2 * 2 * 4, 0.0F);
    const std::vector<float> key = {-6, 5, 7, 8};
    const std::vector<float> value = {9, 10, 11, 12};
    std::copy(key.begin(), key.end(), expected.begin() + cache.view.offset(0, 0, 0, 0, 0));
    std::copy(value.begin(), value.end(), expected.begin() + cache.view.offset(0, 0, 1, 0, 0));
    return expect(download(*cache.backend, cache.memory, static_cast<std::int64_t>(expected.size())),
                  expected);
}

/// Keys 0: equal weights, so the context is the mean of the values a token may see. Two tokens at slots 1
/// and 2.
CheckResult check_causal_mask() {
    TinyCache cache;
    cache.token_ids = {0, 0};
    cache.positions = {1, 2};
    cache.sequence_ids = {1, 1};
    cache.kv_slots = {1, 2};
    cache.query_starts = {0, 0, 2};
    cache.row(2, 1, 0)[0] = 3;     // slot 0
    cache.row(2, 1, 1)[0] = 5;     // slot 1
    cache.row(0, 1, 0)[0] = 10;    // slot 2
    cache.row(0, 1, 1)[0] = 1e6F;  // slot 3: nobody's yet
    const kernels::Buffer qkv = upload(*cache.backend, std::vector<float>(24, 1.0F));
    const kernels::Buffer context = cache.backend->allocate(8 * sizeof(float));
    cache.backend->attention(float_matrix(qkv, 2, 12), {1, 1, 4}, cache.batch(), cache.view, 0,
                             float_matrix(context, 2, 4));
    return expect(download(*cache.backend, context, 8), {4, 0, 0, 0, 6, 0, 0, 0}, 1e-6);
}

/// q . k / sqrt(4) = ln 3 and 0 give weights 3/4 and 1/4. Both query heads read the one KV head.
CheckResult check_softmax_scale() {
    TinyCache cache;
    cache.token_ids = {0};
    cache.positions = {1};
    cache.sequence_ids = {0};
    cache.kv_slots = {1};
    cache.query_starts = {0, 1};
    cache.row(1, 0, 0)[2] = 2 * std::log(3.0F);
    cache.row(1, 1, 0)[0] = 8;
    cache.row(1, 1, 1)[1] = 4;
    std::vector<float> queries(16, 0.0F);
    queries[2] = 1;  // head 0; head 1 stays zero and weighs both slots alike
    const kernels::Buffer qkv = upload(*cache.backend, queries);
    const kernels::Buffer context = cache.backend->allocate(8 * sizeof(float));
    cache.backend->attention(float_matrix(qkv, 1, 16), {2, 1, 4}, cache.batch(), cache.view, 0,
                             float_matrix(context, 1, 8));
    return expect(download(*cache.backend, context, 8), {6, 1, 0, 0, 4, 2, 0, 0}, 1e-5);
}

CheckResult check_write_prefix_kv() {
    TinyCache cache;
    const std::vector<float> keys = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const std::vector<float> values = {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12};
    const std::vector<std::int32_t> block_table = {2, 0};
    cache.backend->write_prefix_kv(cache.view, 0, block_table, keys.data(), values.data(), 3);
    const std::vector<float> third_key(cache.row(0, 0, 0), cache.row(0, 0, 0) + 4);
    const std::vector<float> second_value(cache.row(2, 1, 1), cache.row(2, 1, 1) + 4);
    const CheckResult result = expect(third_key, {9, 10, 11, 12});
    if (result.outcome != CheckResult::Outcome::kPassed) return result;
    return expect(second_value, {-5, -6, -7, -8});
}

}  // namespace

std::vector<Check> reference_checks() {
    return {
        {"reference/linear fp32 with bias", check_linear_float},
        {"reference/linear fp16 and bf16", check_linear_half},
        {"reference/linear int8", check_linear_int8},
        {"reference/int4 nibble order", check_int4_nibble_order},
        {"reference/group scales", check_group_scales},
        {"reference/rms_norm", check_rms_norm},
        {"reference/add_rms_norm", check_add_rms_norm},
        {"reference/swiglu", check_swiglu},
        {"reference/gather_rows", check_gather_rows},
        {"reference/embedding", check_embedding},
        {"reference/rotary pairs and KV slot", check_rotary_kv_write},
        {"reference/causal mask", check_causal_mask},
        {"reference/softmax scale and shared KV head", check_softmax_scale},
        {"reference/P-Tuning prefix", check_write_prefix_kv},
    };
}

}  // namespace glmchat::test
