// context[t][h] = softmax(q[t][h] . K / sqrt(head_dim)) V over slots 0..kv_slots[t]: any head size up to
// 256, FP32 or FP16 cache. For what attention_mma does not take: float32 caches (FP32 precision) and heads
// of unusual size.
//
//   q [num_tokens, qkv_cols] float32    context [num_tokens, heads * head_dim] float32    cache as in
//   kernels/batch.h
//
// One warp per token and head, grid (heads / 4, tokens). 32 slots at a time: lane i computes the score of
// slot i alone (its key row from the cache, the query broadcast from the first-level cache), the warp takes
// maximum and sum, then the lanes share out the dims and add up 32 value rows with the weights handed round
// by shuffle. Online softmax: sums of earlier slots are rescaled when the maximum grows. All arithmetic is
// float32. Bytes: every query head reads the keys and values of its KV head: heads * slots * 2 * head_dim *
// (2 or 4), once per token.
#include <algorithm>

#include "kernels/cuda/kv_cache.h"

namespace glmchat::kernels::cuda {
namespace {

constexpr int kWarps = 4;
constexpr int kMaxHeadDim = 256;
constexpr int kLaneDims = kMaxHeadDim / kWarpSize;
constexpr std::int32_t kMaxGridRows = 65535;

__device__ float load_kv(const KvCacheView& cache, std::int64_t index) {
    if (cache.type == ElementType::kFloat32) return static_cast<const float*>(cache.data)[index];
    return __half2float(static_cast<const __half*>(cache.data)[index]);
}

__device__ float warp_max(float value) {
#pragma unroll
    for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
        value = fmaxf(value, __shfl_xor_sync(kAllLanes, value, offset));
    }
    return value;
}

__device__ void attend(const AttentionArguments& arguments, int token, int head) {
    const AttentionShape& shape = arguments.shape;
    const KvCacheView& cache = arguments.cache;
    const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
    const int kv_head = head / (shape.num_heads / shape.num_kv_heads);
    const int num_query_cols = shape.num_heads * shape.head_dim;
    const int num_cols = num_query_cols + 2 * shape.num_kv_heads * shape.head_dim;
    const float* query = arguments.qkv + std::int64_t{token} * num_cols + head * shape.head_dim;
    const std::int32_t* block_table = block_table_of(arguments.batch, token);
    const int num_slots = arguments.batch.kv_slots[token] + 1;
    const float scale = 1.0F / sqrtf(static_cast<float>(shape.head_dim));

    float largest = -INFINITY;
    float sum = 0.0F;
    float context[kLaneDims] = {};
    for (int first_slot = 0; first_slot < num_slots; first_slot += kWarpSize) {
        const int slot = min(first_slot + lane, num_slots - 1);
        const std::int64_t key = kv_row(cache, arguments.layer, block_table, slot, kKeyPart, kv_head);
        float dot = 0.0F;
        for (int i = 0; i < shape.head_dim; ++i) dot += query[i] * load_kv(cache, key + i);
        const float score = first_slot + lane < num_slots ? dot * scale : -INFINITY;
        const float new_largest = fmaxf(largest, warp_max(score));
        const float rescale = expf(largest - new_largest);  // 0 at first
        const float weight = expf(score - new_largest);
        sum = sum * rescale + weight;
        largest = new_largest;
#pragma unroll
        for (int v = 0; v < kLaneDims; ++v) context[v] *= rescale;

        const int num_here = min(kWarpSize, num_slots - first_slot);
        for (int i = 0; i < num_here; ++i) {
            const float weight_i = __shfl_sync(kAllLanes, weight, i);
            const std::int64_t value =
                kv_row(cache, arguments.layer, block_table, first_slot + i, kValuePart, kv_head);
#pragma unroll
            for (int v = 0; v < kLaneDims; ++v) {
                const int dim = lane + v * kWarpSize;
                if (dim < shape.head_dim) context[v] += weight_i * load_kv(cache, value + dim);
            }
        }
    }
    const float total = warp_sum(sum);
    float* output = arguments.context + std::int64_t{token} * num_query_cols + head * shape.head_dim;
#pragma unroll
    for (int v = 0; v < kLaneDims; ++v) {
        const int dim = lane + v * kWarpSize;
        if (dim < shape.head_dim) output[dim] = context[v] / total;
    }
}

__global__ void __launch_bounds__(kWarps* kWarpSize) attention_generic_kernel(AttentionArguments arguments) {
    const int head = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kWarpSize;
    if (head >= arguments.shape.num_heads) return;
    for (int token = static_cast<int>(blockIdx.y); token < arguments.batch.num_tokens;
         token += static_cast<int>(gridDim.y)) {
        attend(arguments, token, head);
    }
}

}  // namespace

cudaError_t attention_generic(const AttentionArguments& arguments, cudaStream_t stream) {
    if (arguments.batch.num_tokens == 0) return cudaSuccess;
    if (arguments.shape.head_dim > kMaxHeadDim) return cudaErrorInvalidValue;
    const dim3 grid(static_cast<unsigned>(ceil_div(arguments.shape.num_heads, kWarps)),
                    static_cast<unsigned>(std::min(arguments.batch.num_tokens, kMaxGridRows)));
    return launch(attention_generic_kernel, LaunchCfg{grid, kWarps * kWarpSize, 0, stream}, arguments);
}

}  // namespace glmchat::kernels::cuda
