#include "tests/cuda_emulator/selftest/detectors.h"

#include "kernels/cuda/device.h"

namespace selftest {
namespace {

using namespace glmchat::kernels::cuda;
using emu::Finding;

constexpr unsigned kAllLanes = 0xFFFFFFFFU;

__device__ int thread_index() {
    return static_cast<int>(threadIdx.x);
}

// --- memory ---

__global__ void read_past_end(Buffers b, int wrong) {
    const int i = thread_index() + wrong;
    b.y[thread_index()] = b.x[i];  // reported: read past end
}

__global__ void write_past_end(Buffers b, int wrong) {
    const int i = thread_index() + wrong;
    b.y[i] = 1.0F;  // reported: write past end
}

__global__ void read_before_begin(Buffers b, int wrong) {
    const int i = thread_index() - wrong;
    b.y[thread_index()] = b.x[i];  // reported: read before begin
}

__global__ void wide_read_past_end(Buffers b, int wrong) {
    if (thread_index() >= kCount / 4) return;
    const int i = 4 * (thread_index() + wrong);
    const uint4 bits = ld16(b.x + i);  // reported: wide read past end
    st16(b.y + 4 * thread_index(), bits);
}

__global__ void shared_past_end(Buffers b, int wrong) {
    GLM_SHARED(float, tile, [kCount]);
    float* const elements = &tile[0];
    elements[thread_index() + wrong] = 1.0F;  // reported: shared past end
    __syncthreads();
    b.y[thread_index()] = tile[kCount - 1 - wrong];
}

__global__ void freed_memory(Buffers b, int) {
    b.y[thread_index()] = b.freed[thread_index()];  // reported: freed memory
}

__global__ void host_memory(Buffers b, int) {
    b.y[thread_index()] = b.host[thread_index()];  // reported: host memory
}

__global__ void null_pointer(Buffers b, int wrong) {
    const float* const source = wrong != 0 ? nullptr : b.x;
    b.y[thread_index()] = source[thread_index()];
}

__global__ void uninitialised_global(Buffers b, int wrong) {
    const float* const source = wrong != 0 ? b.empty : b.x;
    b.y[thread_index()] = source[thread_index()];  // reported: uninitialised global
}

__global__ void uninitialised_shared(Buffers b, int wrong) {
    GLM_SHARED(float, tile, [kCount]);
    if (wrong == 0 || thread_index() > 0) tile[thread_index()] = 1.0F;
    __syncthreads();
    b.y[thread_index()] = tile[thread_index()];  // reported: uninitialised shared
}

__global__ void misaligned_pair(Buffers b, int wrong) {
    if (thread_index() >= kCount / 2) return;
    const auto* const halves = reinterpret_cast<const __half*>(b.x) + wrong;
    const __half2 pair =
        reinterpret_cast<const __half2*>(halves)[thread_index()];  // reported: misaligned pair
    b.y[thread_index()] = __half2float(pair.x);
}

__global__ void misaligned_wide(Buffers b, int wrong) {
    if (thread_index() >= kCount / 4 - 1) return;
    st16(b.y + 4 * thread_index(), ld16(b.x + 4 * thread_index() + wrong));  // reported: misaligned wide
}

__global__ void array_index(Buffers b, int wrong) {
    float values[4] = {0.0F, 1.0F, 2.0F, 3.0F};
    const int i = static_cast<int>(b.x[3]) + wrong;
    b.y[thread_index()] = values[i];  // reported: array index
}

// --- order within a block ---

__global__ void missing_barrier(Buffers b, int wrong) {
    GLM_SHARED(float, tile, [kCount]);
    tile[thread_index()] = 0.0F;
    __syncthreads();
    tile[thread_index()] = b.x[thread_index()];
    if (wrong == 0) __syncthreads();
    b.y[thread_index()] = tile[kCount - 1 - thread_index()];  // reported: missing barrier
}

__global__ void missing_syncwarp(Buffers b, int wrong) {
    GLM_SHARED(float, tile, [kCount]);
    tile[thread_index()] = 0.0F;
    __syncwarp();
    tile[thread_index()] = b.x[thread_index()];
    if (wrong == 0) __syncwarp();
    b.y[thread_index()] = tile[thread_index() ^ 1];  // reported: missing syncwarp
}

__global__ void missing_global_barrier(Buffers b, int wrong) {
    b.y[thread_index()] = 1.0F;
    if (wrong == 0) __syncthreads();
    b.x[thread_index()] = b.y[kCount - 1 - thread_index()];  // reported: missing global barrier
}

/// Copies chunks of 128 floats through one shared buffer, as a pipeline does.
__global__ void asynchronous_copy(Buffers b, int mistake) {
    constexpr int kNoWait = 1;
    constexpr int kNoBarrierAfterWait = 2;
    constexpr int kNoBarrierBeforeRefill = 3;
    constexpr int kNeverAwaited = 4;
    GLM_SHARED(float, tile, [kCount]);
    float sum = 0.0F;
    for (int chunk = 0; chunk < 2; ++chunk) {
        if (thread_index() < kCount / 4) {
            cp_async16(&tile[4 * thread_index()], b.x + 4 * thread_index());  // reported: refill
        }
        cp_async_commit();
        if (mistake != kNoWait) cp_async_wait<0>();
        if (mistake != kNoBarrierAfterWait) __syncthreads();
        sum += tile[kCount - 1 - thread_index()];  // reported: missing wait | missing barrier after wait
        if (mistake != kNoBarrierBeforeRefill) __syncthreads();
    }
    if (mistake == kNeverAwaited) {
        if (thread_index() < kCount / 4) {
            cp_async16(&tile[4 * thread_index()], b.x + 4 * thread_index());  // reported: copy at the end
        }
        cp_async_commit();
    }
    b.y[thread_index()] = sum;
}

// --- order between blocks ---

__global__ void two_blocks_write(Buffers b, int wrong) {
    const int block_index = static_cast<int>(blockIdx.x);
    if (thread_index() == 0) b.y[wrong != 0 ? 0 : block_index] = 1.0F;  // reported: two blocks write
}

__global__ void last_block(Buffers b, int wrong) {
    GLM_SHARED(unsigned, is_last, [1]);
    if (thread_index() == 0) {
        b.y[1 + blockIdx.x] = 1.0F;
        if (wrong == 0) __threadfence();
        is_last[0] = atomicAdd(b.ticket, 1U) == gridDim.x - 1 ? 1U : 0U;
    }
    __syncthreads();
    if (is_last[0] == 0 || thread_index() != 0) return;
    float sum = 0.0F;
    for (unsigned i = 0; i < gridDim.x; ++i) sum += b.y[1 + i];  // reported: last block without fence
    b.y[0] = sum;
}

// --- waiting together ---

__global__ void barrier_in_branch(Buffers b, int wrong) {
    if (wrong == 0 || thread_index() < kCount / 2) __syncthreads();  // reported: barrier in branch
    b.y[thread_index()] = 1.0F;
}

__global__ void different_barriers(Buffers b, int wrong) {
    if (wrong != 0 && thread_index() < kCount / 2) {
        __syncthreads();  // reported: different barriers
    } else {
        __syncthreads();
    }
    b.y[thread_index()] = 1.0F;
}

__global__ void exit_before_barrier(Buffers b, int wrong) {
    if (wrong != 0 && thread_index() == 5) return;
    __syncthreads();  // reported: exit before barrier
    b.y[thread_index()] = 1.0F;
}

__global__ void different_shuffles(Buffers b, int wrong) {
    const float value = b.x[thread_index()];
    float other = 0.0F;
    if (wrong != 0 && thread_index() % 2 == 0) {
        other = __shfl_xor_sync(kAllLanes, value, 1);
    } else if (wrong != 0) {
        other = __shfl_down_sync(kAllLanes, value, 1);
    } else {
        other = __shfl_xor_sync(kAllLanes, value, 1);
    }
    b.y[thread_index()] = other;
}

__global__ void shuffle_in_branch(Buffers b, int wrong) {
    float value = b.x[thread_index()];
    if (wrong == 0 || thread_index() % 32 < 16) {
        value += __shfl_xor_sync(kAllLanes, value, 1);  // reported: shuffle in branch
    }
    __syncthreads();
    b.y[thread_index()] = value;
}

__global__ void outside_mask(Buffers b, int wrong) {
    const unsigned mask = wrong != 0 ? 0x7FFFFFFFU : kAllLanes;
    b.y[thread_index()] = __shfl_sync(mask, b.x[thread_index()], 0);  // reported: outside mask
}

__global__ void outside_width(Buffers b, int wrong) {
    const int lane = wrong != 0 ? 8 : 7;
    b.y[thread_index()] = __shfl_sync(kAllLanes, b.x[thread_index()], lane, 8);  // reported: outside width
}

__global__ void ended_lane(Buffers b, int wrong) {
    if (wrong != 0 && thread_index() % 32 == 3) return;
    b.y[thread_index()] = __shfl_sync(kAllLanes, b.x[thread_index()], 3);  // reported: ended lane
}

__global__ void incomplete_mma(Buffers b, int wrong) {
    if (wrong != 0 && thread_index() % 32 == 31) return;
    float c[4] = {};
    mma_m16n8k16(c, {0U, 0U, 0U, 0U}, {0U, 0U});  // reported: incomplete mma
    b.y[thread_index()] = c[0];
}

__global__ void ldmatrix_from_global(Buffers b, int wrong) {
    GLM_SHARED(float, tile, [kCount]);
    tile[thread_index()] = 0.0F;
    __syncthreads();
    const float* const row = wrong != 0 ? b.x : &tile[0];
    std::uint32_t registers[4];
    ldmatrix_x4(registers, row + thread_index() % 32 * 4);  // reported: ldmatrix from global
    b.y[thread_index()] = __uint_as_float(registers[0]);
}

// --- limits ---

__global__ void nothing(Buffers, int) {}

__global__ void large_static_shared(Buffers b, int wrong) {
    if (wrong != 0) {
        GLM_SHARED(float, tile, [12289]);  // reported: large static shared
        tile[thread_index()] = 1.0F;
    } else {
        GLM_SHARED(float, tile, [12288]);
        tile[thread_index()] = 1.0F;
    }
    b.y[thread_index()] = 1.0F;
}

__global__ void dynamic_shared(Buffers b, int) {
    GLM_DYN_SHARED(float, tile);  // reported: no dynamic shared
    tile[thread_index()] = b.x[thread_index()];
    b.y[thread_index()] = tile[thread_index()];
}

__global__ void large_dynamic_shared(Buffers b, int) {
    GLM_DYN_SHARED(float, tile);
    tile[thread_index()] = b.x[thread_index()];
    b.y[thread_index()] = tile[thread_index()];
}

__device__ __attribute__((noinline)) float deep(const float* x, int depth) {
    float room[64];
    for (int i = 0; i < 64; ++i) room[i] = x[i] + static_cast<float>(depth);
    if (depth == 0) return room[7];
    return deep(room, depth - 1) + room[depth % 64];
}

__global__ void stack_overflow(Buffers b, int wrong) {
    b.y[thread_index()] = deep(b.x, wrong != 0 ? 100000 : 3);
}

using Kernel = void (*)(Buffers, int);

template <Kernel kernel, unsigned kBlocks = 1, int kMistake = 1, int kThreads = kCount, int kSharedBytes = 0>
cudaError_t run(const Buffers& buffers, int wrong, cudaStream_t stream) {
    const LaunchCfg config{kBlocks, kThreads, kSharedBytes, stream};
    return launch(kernel, config, buffers, wrong != 0 ? kMistake : 0);
}

cudaError_t run_too_many_threads(const Buffers& buffers, int wrong, cudaStream_t stream) {
    const dim3 threads(wrong != 0 ? 2048U : 1024U);
    const LaunchCfg config{1, threads, 0, stream};  // reported: too many threads
    return launch(nothing, config, buffers, wrong);
}

cudaError_t run_wide_grid(const Buffers& buffers, int wrong, cudaStream_t stream) {
    const dim3 blocks(1, wrong != 0 ? 65536U : 2U);
    const LaunchCfg config{blocks, 32, 0, stream};  // reported: wide grid
    return launch(nothing, config, buffers, wrong);
}

cudaError_t run_no_dynamic_shared(const Buffers& buffers, int wrong, cudaStream_t stream) {
    const std::size_t bytes = wrong != 0 ? 0 : kCount * sizeof(float);
    return launch(dynamic_shared, {1, kCount, bytes, stream}, buffers, wrong);
}

cudaError_t run_large_dynamic_shared(const Buffers& buffers, int wrong, cudaStream_t stream) {
    constexpr std::size_t kBytes = 60 * 1024;
    if (wrong == 0) {
        const cudaError_t allowed = allow_dynamic_shared(large_dynamic_shared, kBytes);
        if (allowed != cudaSuccess) return allowed;
    }
    const LaunchCfg config{1, kCount, kBytes, stream};  // reported: large dynamic shared
    return launch(large_dynamic_shared, config, buffers, wrong);
}

}  // namespace

std::vector<Detector> detectors() {
    return {
        {"read past end", Finding::kOutOfBounds, kCheck, run<read_past_end>},
        {"write past end", Finding::kOutOfBounds, kCheck, run<write_past_end>},
        {"read before begin", Finding::kOutOfBounds, kCheck, run<read_before_begin>},
        {"wide read past end", Finding::kOutOfBounds, kCheck, run<wide_read_past_end>},
        {"shared past end", Finding::kOutOfBounds, kCheck, run<shared_past_end>},
        {"freed memory", Finding::kOutOfBounds, kCheck, run<freed_memory>},
        {"host memory", Finding::kOutOfBounds, kCheck, run<host_memory>},
        {"null pointer", Finding::kOutOfBounds, kCheck, run<null_pointer>},
        {"null pointer", Finding::kFault, kFast, run<null_pointer>},
        {"uninitialised global", Finding::kUninitialised, kCheck, run<uninitialised_global>},
        {"uninitialised shared", Finding::kUninitialised, kCheck, run<uninitialised_shared>},
        {"misaligned pair", Finding::kMisaligned, kCheck, run<misaligned_pair>},
        {"misaligned wide", Finding::kMisaligned, kAll, run<misaligned_wide>},
        {"array index", Finding::kArrayIndex, kCheck, run<array_index>},
        {"missing barrier", Finding::kSharedRace, kCheck, run<missing_barrier>},
        {"missing syncwarp", Finding::kSharedRace, kCheck, run<missing_syncwarp>},
        {"missing global barrier", Finding::kGlobalRace, kCheck, run<missing_global_barrier>},
        {"missing wait", Finding::kInFlight, kCheck, run<asynchronous_copy, 1, 1>},
        {"missing barrier after wait", Finding::kSharedRace, kCheck, run<asynchronous_copy, 1, 2>},
        {"refill", Finding::kSharedRace, kCheck, run<asynchronous_copy, 1, 3>},
        {"copy at the end", Finding::kCopyNotAwaited, kAll, run<asynchronous_copy, 1, 4>},
        {"two blocks write", Finding::kGlobalRace, kCheck, run<two_blocks_write, 4>},
        {"last block without fence", Finding::kGlobalRace, kCheck, run<last_block, 4>},
        {"barrier in branch", Finding::kDivergence, kAll, run<barrier_in_branch>},
        {"different barriers", Finding::kDivergence, kAll, run<different_barriers>},
        {"exit before barrier", Finding::kDivergence, kAll, run<exit_before_barrier>},
        {"different shuffles", Finding::kDivergence, kAll, run<different_shuffles>},
        {"shuffle in branch", Finding::kDivergence, kAll, run<shuffle_in_branch>},
        {"outside mask", Finding::kDivergence, kAll, run<outside_mask>},
        {"outside width", Finding::kWarpSource, kAll, run<outside_width>},
        {"ended lane", Finding::kWarpSource, kAll, run<ended_lane>},
        {"incomplete mma", Finding::kDivergence, kAll, run<incomplete_mma>},
        {"ldmatrix from global", Finding::kOutOfBounds, kAll, run<ldmatrix_from_global>},
        {"large static shared", Finding::kLimit, kAll, run<large_static_shared>},
        {"too many threads", Finding::kLimit, kAll, run_too_many_threads},
        {"wide grid", Finding::kLimit, kAll, run_wide_grid},
        {"no dynamic shared", Finding::kLimit, kAll, run_no_dynamic_shared},
        {"large dynamic shared", Finding::kLimit, kAll, run_large_dynamic_shared},
        {"stack overflow", Finding::kFault, kFast | kCheck, run<stack_overflow>},
    };
}

}  // namespace selftest
