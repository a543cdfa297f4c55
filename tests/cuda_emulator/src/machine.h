#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "cuda_emulator/control.h"
#include "cuda_emulator/core.h"
#include "fiber.h"

/// What the emulator's parts share: the block that runs, its warps and lanes, and how a finding ends a
/// kernel.
namespace emu {

#if defined(EMU_CHECK)
inline constexpr Build kBuild = Build::kCheck;
#elif defined(EMU_ASAN)
inline constexpr Build kBuild = Build::kAsan;
#else
inline constexpr Build kBuild = Build::kFast;
#endif
inline constexpr bool kJudgesMemory = kBuild == Build::kCheck;

inline constexpr unsigned kWarpLanes = 32;
inline constexpr unsigned kMaxWarps = kMaxFibers / kWarpLanes;

/// An asynchronous copy that has been started and not awaited.
struct AsyncCopy {
    char* destination;
    const char* source;
    int src_bytes;
    unsigned group;
    Site site;
};

struct Lane : ThreadState {
    unsigned index = 0;  ///< within the block, x fastest
    Fiber fiber;
    bool in_kernel_code = false;  ///< kept while another lane runs
    Request* request = nullptr;   ///< the collective it waits in
    Site barrier_site;
    Barrier barrier_kind = Barrier::kPlain;
    int predicate = 0;
    std::uint32_t fence_epoch = 0;  ///< epoch of its last __threadfence, 0 if none
    unsigned open_group = 0;        ///< number of the group that its next asynchronous copy joins
    std::vector<AsyncCopy> copies;

    unsigned warp() const { return index / kWarpLanes; }
    unsigned lane() const { return index % kWarpLanes; }
    std::uint32_t bit() const { return 1U << lane(); }
};

struct Warp {
    std::uint32_t present = 0;
    std::uint32_t runnable = 0;
    std::uint32_t exited = 0;
    std::uint32_t at_barrier = 0;
    std::uint32_t in_collective = 0;
    std::uint16_t syncs = 0;  ///< counts what orders memory within the warp

    std::uint32_t live() const { return present & ~exited; }
};

struct KernelLaunch {
    const void* kernel = nullptr;
    dim3 grid_extent;
    dim3 block_extent;
    std::size_t dynamic_shared_bytes = 0;
    Site site;
    std::function<void()> thread_body;
};

struct Block {
    const KernelLaunch* launch = nullptr;  ///< null when no kernel runs
    unsigned num_lanes = 0;
    unsigned num_warps = 0;
    int barrier_result = 0;
    bool aborted = false;
    Warp warps[kMaxWarps];
    Lane lanes[kMaxFibers];
    Fiber scheduler;
};
extern Block block;
/// True while the code that runs is a kernel's: read by the hooks, kept per lane across switches.
extern constinit thread_local bool in_kernel_code;

/// While one lives, the emulator works for a kernel: standard library code that both share must not be
/// judged.
class OutsideKernel {
  public:
    OutsideKernel() : before_(in_kernel_code) { in_kernel_code = false; }
    ~OutsideKernel() { in_kernel_code = before_; }
    OutsideKernel(const OutsideKernel&) = delete;
    OutsideKernel& operator=(const OutsideKernel&) = delete;

  private:
    bool before_;
};

inline Lane& this_lane() {
    return *static_cast<Lane*>(current);
}
inline Warp& this_warp() {
    return block.warps[this_lane().warp()];
}

/// Runs all blocks of a launch, unless a finding ends it.
void run_kernel(const KernelLaunch& launch);
/// Gives the processor to another lane of the warp; returns when this lane is runnable and its turn comes.
void suspend();
/// Called when a lane has left its warp: a collective may have waited for it alone.
void complete_collectives(Warp& warp);
/// Picks one set bit of a non-empty mask, by the lane order.
unsigned pick_bit(std::uint32_t mask);
std::uint64_t next_random();

/// One number per block start, block barrier and stream operation.
extern std::uint32_t epoch;

// --- findings ---

/// Where a finding happened: a site that the kernel passed, or a program address to look up.
struct Place {
    Site site;
    const void* program_address = nullptr;
};
void report(Finding finding, std::string what, Place place = {});
/// After a report that no kernel survives: leaves the kernel, makes the device error sticky. Only in kernel
/// context.
[[noreturn]] void abort_kernel(cudaError_t error = cudaErrorIllegalAddress);
std::string describe(Site site);
std::string describe_thread(const Lane& lane);
std::string format(const char* pattern, ...) __attribute__((format(printf, 1, 2)));

/// The error that every call returns once a kernel has died, cudaSuccess before.
extern cudaError_t sticky_error;

/// One lock around every call: kernels run inside the synchronising call, so one OS thread at a time is
/// enough.
std::recursive_mutex& machine_mutex();

extern Counters count;

}  // namespace emu
