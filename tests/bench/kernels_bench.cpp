#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "tests/bench/kernels_bench_peak.h"
#include <benchmark/benchmark.h>

#include "kernels/backend.h"
#include "kernels/cpu/physical_cores.h"
#include "kernels/machine_probe.h"
#include "kernels/rotary.h"

/// Ops of the cpu backend at the shapes of ChatGLM2-6B, each as a share of what this machine can do at all:
/// reads per second for ops that stream weights or keys and values, multiply-adds per second for prefill. The
/// machine is measured in the same run, because its speed moves. GLMCHAT_CPU_ISA chooses a weaker instruction
/// set.
namespace glmchat::bench {
namespace {

using kernels::Backend;
using kernels::ElementType;
using kernels::LinearWeight;
using kernels::ScaleLayout;

struct Machine {
    double bytes_per_second;
    double operations_per_second;
};
Machine machine;
std::unique_ptr<Backend> backend;

void report(benchmark::State& state, double bytes, double operations) {
    const auto iterations = static_cast<double>(state.iterations());
    const auto rate = [&](double amount) {
        return benchmark::Counter(amount * iterations, benchmark::Counter::kIsRate);
    };
    state.counters["GB/s"] = rate(bytes / 1e9);
    state.counters["GFLOP/s"] = rate(operations / 1e9);
    state.counters["of_read"] = rate(bytes / machine.bytes_per_second);
    state.counters["of_fma"] = rate(operations / machine.operations_per_second);
}

kernels::Tensor matrix(const kernels::Buffer& buffer, std::int64_t rows, std::int64_t cols) {
    return {buffer.data(), ElementType::kFloat32, rows, cols};
}

/// Small floats everywhere: no denormals, no zeros to be shared as one page.
kernels::Buffer filled(std::int64_t count) {
    kernels::Buffer buffer = backend->allocate(static_cast<std::size_t>(count) * sizeof(float));
    for (std::int64_t i = 0; i < count; ++i) {
        buffer.as_float()[i] = 0.01F * static_cast<float>(i % 97) - 0.5F;
    }
    return buffer;
}

struct Format {
    const char* name;
    ElementType type;
    ScaleLayout layout;
    std::int64_t group_size;
};
constexpr Format kFormats[] = {
    {"fp32", ElementType::kFloat32, ScaleLayout::kNone, 0},
    {"fp16", ElementType::kFloat16, ScaleLayout::kNone, 0},
    {"bf16", ElementType::kBFloat16, ScaleLayout::kNone, 0},
    {"int8_row", ElementType::kInt8, ScaleLayout::kPerRow, 0},
    {"int8_group128", ElementType::kInt8, ScaleLayout::kPerGroup, 128},
    {"int4_row", ElementType::kInt4, ScaleLayout::kPerRow, 0},
    {"int4_group128", ElementType::kInt4, ScaleLayout::kPerGroup, 128},
    {"int4_group32", ElementType::kInt4, ScaleLayout::kPerGroup, 32},
};

/// The weight of one linear op, repeated until it is far larger than the caches, as a whole model is.
struct WeightPool {
    kernels::Buffer data;
    kernels::Buffer scales;
    std::vector<LinearWeight> copies;
    double bytes_each = 0;
};

WeightPool make_weights(const Format& format, std::int64_t out_features, std::int64_t in_features) {
    constexpr std::size_t kPoolBytes = std::size_t{768} << 20;
    WeightPool pool;
    const std::size_t data_bytes = kernels::element_bytes(format.type, out_features * in_features);
    const std::int64_t num_scales =
        format.layout == ScaleLayout::kNone
            ? 0
            : out_features * (format.layout == ScaleLayout::kPerRow ? 1 : in_features / format.group_size);
    const std::size_t num_copies = kPoolBytes / data_bytes + 1;
    pool.data = backend->allocate(num_copies * data_bytes);
    // 0x3C in every byte is 1.06 as a half, 0.01 as float32 and bfloat16, and an ordinary integer.
    std::memset(pool.data.data(), 0x3C, pool.data.size_bytes());
    pool.scales = backend->allocate(static_cast<std::size_t>(num_scales + 1) * 2);
    std::memset(pool.scales.data(), 0x2C, pool.scales.size_bytes());
    for (std::size_t i = 0; i < num_copies; ++i) {
        LinearWeight weight;
        weight.type = format.type;
        weight.data = static_cast<const std::byte*>(pool.data.data()) + i * data_bytes;
        weight.out_features = out_features;
        weight.in_features = in_features;
        weight.scale_layout = format.layout;
        weight.scales = pool.scales.data();
        weight.group_size = format.group_size;
        pool.copies.push_back(backend->prepare_weight(weight));
    }
    pool.bytes_each = static_cast<double>(data_bytes) + 2.0 * static_cast<double>(num_scales);
    return pool;
}

void linear(benchmark::State& state, const Format& format, std::int64_t rows, std::int64_t out_features,
            std::int64_t in_features) {
    const WeightPool pool = make_weights(format, out_features, in_features);
    const kernels::Buffer x = filled(rows * in_features);
    const kernels::Buffer y = filled(rows * out_features);
    std::size_t next = 0;
    for (auto _ : state) {
        backend->linear(matrix(x, rows, in_features), pool.copies[next++ % pool.copies.size()], nullptr,
                        matrix(y, rows, out_features));
    }
    report(state, pool.bytes_each, 2.0 * static_cast<double>(rows * out_features * in_features));
}

/// `num_tokens` new tokens of one chat on top of `depth` cached ones.
void attention(benchmark::State& state, ElementType kv_type, std::int32_t depth, std::int32_t num_tokens) {
    const kernels::AttentionShape shape = {32, 2, 128};
    constexpr std::int32_t kBlockSize = 32;
    constexpr int kLayers = 28;  // read in turn, as decode does
    const std::int32_t num_blocks = (depth + num_tokens + kBlockSize - 1) / kBlockSize;
    kernels::KvCacheView cache = {nullptr,       kv_type, kLayers, num_blocks, kBlockSize, shape.num_kv_heads,
                                  shape.head_dim};
    const kernels::Buffer memory =
        backend->allocate(cache.bytes_per_block() * static_cast<std::size_t>(num_blocks));
    std::memset(memory.data(), 0x3C, memory.size_bytes());
    cache.data = memory.data();
    const auto count = static_cast<std::size_t>(num_tokens);
    std::vector<std::int32_t> ids(count, 0);
    std::vector<std::int32_t> slots(count);
    std::iota(slots.begin(), slots.end(), depth);
    std::vector<std::int32_t> blocks(static_cast<std::size_t>(num_blocks));
    std::iota(blocks.begin(), blocks.end(), 0);
    const std::vector<std::int32_t> starts = {0, num_tokens};
    const kernels::RaggedBatch batch = {ids, slots, ids, slots, starts, blocks, num_blocks};
    const kernels::Buffer qkv = filled(num_tokens * shape.qkv_cols());
    const kernels::Buffer context = filled(num_tokens * shape.query_cols());
    int layer = 0;
    for (auto _ : state) {
        backend->attention(matrix(qkv, num_tokens, shape.qkv_cols()), shape, batch, cache, layer++ % kLayers,
                           matrix(context, num_tokens, shape.query_cols()));
    }
    const double seen =
        static_cast<double>(num_tokens) * (depth + 0.5 * (num_tokens + 1));  // (token, slot) pairs
    const double slot_bytes =
        static_cast<double>(kernels::element_bytes(kv_type, 2 * shape.num_kv_heads * shape.head_dim));
    report(state, slot_bytes * (depth + num_tokens), 4.0 * seen * static_cast<double>(shape.query_cols()));
}

void rotary_kv_write(benchmark::State& state, std::int32_t num_tokens) {
    const kernels::AttentionShape shape = {32, 2, 128};
    constexpr std::int32_t kBlockSize = 32;
    const std::int32_t num_blocks = (num_tokens + kBlockSize - 1) / kBlockSize;
    kernels::KvCacheView cache = {nullptr, ElementType::kFloat16, 1, num_blocks, kBlockSize, 2, 128};
    const kernels::Buffer memory =
        backend->allocate(cache.bytes_per_block() * static_cast<std::size_t>(num_blocks));
    cache.data = memory.data();
    const std::vector<float> table = kernels::compute_rotary_table(num_tokens, 64, 10000.0F, 1.0F);
    std::vector<std::int32_t> ids(static_cast<std::size_t>(num_tokens), 0);
    std::vector<std::int32_t> slots(ids.size());
    std::iota(slots.begin(), slots.end(), 0);
    std::vector<std::int32_t> blocks(static_cast<std::size_t>(num_blocks));
    std::iota(blocks.begin(), blocks.end(), 0);
    const std::vector<std::int32_t> starts = {0, num_tokens};
    const kernels::RaggedBatch batch = {ids, slots, ids, slots, starts, blocks, num_blocks};
    const kernels::Buffer qkv = filled(num_tokens * shape.qkv_cols());
    for (auto _ : state) {
        backend->rotary_kv_write(matrix(qkv, num_tokens, shape.qkv_cols()), shape,
                                 {table.data(), num_tokens, 64}, batch, cache, 0);
    }
    report(state, 8.0 * static_cast<double>(num_tokens * shape.qkv_cols()), 0);
}

void rms_norm(benchmark::State& state, std::int64_t rows) {
    const kernels::Buffer x = filled(rows * 4096);
    const kernels::Buffer y = filled(rows * 4096);
    const kernels::Buffer weight = filled(4096);
    for (auto _ : state) {
        backend->rms_norm(matrix(x, rows, 4096), weight.as_float(), 1e-5F, matrix(y, rows, 4096));
    }
    report(state, 8.0 * 4096.0 * static_cast<double>(rows), 0);
}

void swiglu(benchmark::State& state, std::int64_t rows) {
    const kernels::Buffer gate_up = filled(rows * 2 * 13696);
    const kernels::Buffer y = filled(rows * 13696);
    for (auto _ : state) backend->swiglu(matrix(gate_up, rows, 2 * 13696), matrix(y, rows, 13696));
    report(state, 12.0 * 13696.0 * static_cast<double>(rows), 0);
}

template <typename Op, typename... Arguments>
void add(const std::string& name, Op op, Arguments... arguments) {
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { op(state, arguments...); })
        ->UseRealTime()
        ->Unit(benchmark::kMicrosecond);
}

void add_all() {
    for (const Format& format : kFormats) {
        for (const std::int64_t rows : {1, 4, 8, 32, 128, 512}) {
            add(std::string("linear/") + format.name + "/query_key_value/rows:" + std::to_string(rows),
                linear, format, rows, std::int64_t{4608}, std::int64_t{4096});
        }
        add(std::string("linear/") + format.name + "/dense_4h_to_h/rows:1", linear, format, std::int64_t{1},
            std::int64_t{4096}, std::int64_t{13696});
    }
    for (const ElementType kv_type : {ElementType::kFloat16, ElementType::kFloat32}) {
        const std::string name = kv_type == ElementType::kFloat16 ? "attention/fp16" : "attention/fp32";
        for (const std::int32_t depth : {512, 2048, 8192}) {
            add(name + "/decode/depth:" + std::to_string(depth), attention, kv_type, depth, 1);
        }
        add(name + "/prefill:512/depth:0", attention, kv_type, 0, 512);
        add(name + "/prefill:128/depth:2048", attention, kv_type, 2048, 128);
    }
    for (const std::int32_t rows : {1, 512}) {
        const std::string suffix = "/rows:" + std::to_string(rows);
        add("rotary_kv_write" + suffix, rotary_kv_write, rows);
        add("rms_norm" + suffix, rms_norm, std::int64_t{rows});
        add("swiglu" + suffix, swiglu, std::int64_t{rows});
    }
}

}  // namespace

/// usage: kernels_bench [--benchmark_…] [number of threads]
int run(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    const int num_threads = argc > 1 ? std::atoi(argv[1]) : kernels::count_physical_cores();
    if (argc > 2 || num_threads < 1) return 2;
    backend = kernels::make_cpu_backend(num_threads);
    machine = {kernels::measure_read_bandwidth(num_threads), measure_fma_peak(num_threads)};
    std::printf("%s; this machine reads %.1f GB/s and does %.0f GFLOP/s in float32\n",
                backend->description().c_str(), machine.bytes_per_second / 1e9,
                machine.operations_per_second / 1e9);
    add_all();
    benchmark::RunSpecifiedBenchmarks();
    backend.reset();
    return 0;
}

}  // namespace glmchat::bench

int main(int argc, char** argv) {
    return glmchat::bench::run(argc, argv);
}
