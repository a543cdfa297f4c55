#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

// The only attribute of kernels that the real headers do not already make empty.
#if !defined(__launch_bounds__)
#define __launch_bounds__(...)
#endif

/// What the emulated device offers to compiled kernels: the emulator's side of kernels/cuda/device.h. One
/// CUDA thread is one fiber; everything that waits or exchanges values is a call into the emulator.
namespace emu {

/// A place in a kernel's source, for reports.
struct Site {
    const char* file = "";
    int line = 0;
};
inline Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
}

/// Of the CUDA thread that runs now.
struct ThreadState {
    uint3 thread = {0, 0, 0};
};
struct GridState {
    uint3 block = {0, 0, 0};
    dim3 grid_extent;
    dim3 block_extent;
};
extern ThreadState* current;
extern GridState grid;

// --- launches ---

struct LaunchCfg {
    dim3 grid;
    dim3 block;
    std::size_t smem = 0;
    cudaStream_t stream = nullptr;
    const char* file = __builtin_FILE();
    int line = __builtin_LINE();
};

cudaError_t enqueue_kernel(const LaunchCfg& config, const void* kernel, std::function<void()> thread_body);

/// Between these two a memory access belongs to the kernel and is judged.
void enter_kernel_code();
void leave_kernel_code();

template <typename... Params, typename... Args>
cudaError_t launch(void (*kernel)(Params...), const LaunchCfg& config, Args&&... args) {
    static_assert(sizeof...(Params) == sizeof...(Args), "as many arguments as the kernel has parameters");
    static_assert((std::is_trivially_copyable_v<Params> && ...), "kernel parameters are copied byte by byte");
    static_assert((!std::is_reference_v<Params> && ...),
                  "a reference to host memory means nothing on the device");
    static_assert((sizeof(Params) + ... + 0) <= 4096, "kernel parameters are limited to 4 KiB");
    std::tuple<std::remove_cv_t<Params>...> stored(static_cast<Params>(args)...);
    return enqueue_kernel(config, reinterpret_cast<const void*>(kernel), [kernel, stored] {
        auto* const entry = kernel;
        auto own_copy = stored;  // on the CUDA thread's own stack, where its accesses are legal
        enter_kernel_code();
        std::apply(entry, own_copy);
        leave_kernel_code();
    });
}

// --- shared memory ---

void* shared_array(const void* declaration, std::size_t bytes, Site site);
void* dynamic_shared_memory(Site site);

// --- memory accesses with a stated size ---

uint4 load16(const void* source, Site site);
void store16(void* destination, const uint4& value, Site site);
inline uint4 ld16(const void* source, Site site = here()) {
    return load16(source, site);
}
inline void st16(void* destination, const uint4& value, Site site = here()) {
    store16(destination, value, site);
}

// --- asynchronous copies ---

void async_copy16(void* destination, const void* source, int src_bytes, Site site);
void async_commit();
void async_wait(unsigned newest_groups);
inline void cp_async16(void* destination, const void* source, int src_bytes = 16, Site site = here()) {
    async_copy16(destination, source, src_bytes, site);
}
inline void cp_async_commit() {
    async_commit();
}
template <int kNewest>
void cp_async_wait() {
    async_wait(kNewest);
}

// --- block barriers ---

enum class Barrier : std::uint8_t { kPlain, kCount, kAnd, kOr };
int block_barrier(Barrier kind, int predicate, Site site);

// --- warp collectives: each lane hands in a request, the last lane to arrive computes all answers ---

enum class Collective : std::uint8_t {
    kShuffle,
    kShuffleUp,
    kShuffleDown,
    kShuffleXor,
    kBallot,
    kAll,
    kAny,
    kSyncWarp,
    kMmaF16,
    kMmaBf16,
    kMmaS8K16,
    kMmaS8K32,
    kLdmatrix,
    kLdmatrixTrans,
};

struct Request {
    Collective what;
    std::uint32_t mask;
    Site site;
    int lane_argument = 0;  ///< source lane, delta or xor mask of a shuffle
    int width = 32;
    const void* address = nullptr;  ///< row of ldmatrix
    std::uint32_t in[10] = {};      ///< a value, or the fragments a, b, c in this order
    std::uint32_t out[4] = {};
};
void collective(Request& request);

template <typename T>
T shuffle(Collective what, std::uint32_t mask, T value, int lane_argument, int width, Site site) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8);
    Request request{what, mask, site, lane_argument, width};
    __builtin_memcpy(request.in, &value, sizeof(T));
    collective(request);
    T result;
    __builtin_memcpy(&result, request.out, sizeof(T));
    return result;
}

inline std::uint32_t vote(Collective what, std::uint32_t mask, std::uint32_t value, Site site) {
    Request request{what, mask, site};
    request.in[0] = value;
    collective(request);
    return request.out[0];
}

template <typename Sum, std::size_t kA, std::size_t kB>
void mma(Collective what, Sum (&c)[4], const std::uint32_t (&a)[kA], const std::uint32_t (&b)[kB],
         Site site) {
    Request request{what, 0xFFFFFFFFU, site};
    __builtin_memcpy(request.in, a, sizeof a);
    __builtin_memcpy(request.in + 4, b, sizeof b);
    __builtin_memcpy(request.in + 6, c, sizeof c);
    collective(request);
    __builtin_memcpy(c, request.out, sizeof c);
}
inline void mma_m16n8k16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                         Site site = here()) {
    mma(Collective::kMmaF16, c, a, b, site);
}
inline void mma_m16n8k16_bf16(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                              Site site = here()) {
    mma(Collective::kMmaBf16, c, a, b, site);
}
inline void mma_m16n8k16_s8(int (&c)[4], const std::uint32_t (&a)[2], std::uint32_t b, Site site = here()) {
    const std::uint32_t one[1] = {b};
    mma(Collective::kMmaS8K16, c, a, one, site);
}
inline void mma_m16n8k32_s8(int (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                            Site site = here()) {
    mma(Collective::kMmaS8K32, c, a, b, site);
}

inline void ldmatrix(Collective what, std::uint32_t (&registers)[4], const void* row, Site site) {
    Request request{what, 0xFFFFFFFFU, site};
    request.address = row;
    collective(request);
    __builtin_memcpy(registers, request.out, sizeof registers);
}
inline void ldmatrix_x4(std::uint32_t (&registers)[4], const void* row, Site site = here()) {
    ldmatrix(Collective::kLdmatrix, registers, row, site);
}
inline void ldmatrix_x4_trans(std::uint32_t (&registers)[4], const void* row, Site site = here()) {
    ldmatrix(Collective::kLdmatrixTrans, registers, row, site);
}

// --- fences and atomics ---

void thread_fence();
/// Judges an atomic access of 2, 4 or 8 bytes and orders it with the fences before it.
void atomic_access(void* address, std::size_t bytes, Site site);
/// Plain copy that is not judged: the inside of an atomic.
void raw_copy(void* destination, const void* source, std::size_t bytes);

template <typename T, typename Update>
T atomic_update(T* address, Update update, Site site) {
    atomic_access(address, sizeof(T), site);
    T before;
    raw_copy(&before, address, sizeof(T));
    const T after = update(before);
    raw_copy(address, &after, sizeof(T));
    return before;
}

}  // namespace emu
