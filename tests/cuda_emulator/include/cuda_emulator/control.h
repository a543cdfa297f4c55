#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

/// What tests ask of the emulator besides the CUDA calls themselves.
namespace emu {

enum class Build { kFast, kCheck, kAsan };
/// Which of the three builds this program links. Memory is judged in kCheck alone.
Build build();

enum class Finding {
    kOutOfBounds,    ///< outside every buffer that the accessing thread may touch; also freed memory and host
                     ///< memory
    kUninitialised,  ///< read of bytes that nobody has written
    kMisaligned,     ///< address not a multiple of what the access needs
    kArrayIndex,     ///< index outside an array in registers or on the stack
    kInFlight,       ///< bytes that an asynchronous copy is still filling
    kSharedRace,     ///< two threads, one of them writing, without a barrier between
    kGlobalRace,     ///< the same in device memory: within a kernel, or between streams
    kDivergence,     ///< lanes or threads waiting for each other in different places
    kWarpSource,     ///< value taken from a lane outside the width, the mask, or already gone
    kCopyNotAwaited,  ///< a thread ended with asynchronous copies in flight
    kLimit,           ///< threads, grid, shared memory or parameters beyond the device's limits
    kFault,           ///< signal: null pointer, stack overflow
    kHostAccess,      ///< host code dereferenced device memory
    kApi,             ///< wrong use of a runtime or cuBLAS function
    kLeak,            ///< memory, stream, event or graph not given back
};
const char* name_of(Finding finding);

/// One finding. Repeats at the same place are counted, not listed again.
struct Report {
    Finding finding = Finding::kApi;
    std::string what;   ///< a sentence
    std::string where;  ///< file:line in the kernel, empty if it has none
    std::string kernel;
    std::string thread;  ///< "block (x,y,z) thread (x,y,z)", empty on the host
    std::size_t times = 1;
    std::string text() const;
};

/// Reports since the last call; also clears a sticky device error, which on a GPU would need a new process.
std::vector<Report> take_reports();
std::size_t num_reports();

/// Order in which the lanes of a warp and the warps of a block run. Set from GLM_EMU_ORDER (forward, reverse,
/// random[:seed]).
enum class LaneOrder { kForward, kReverse, kRandom };
void set_lane_order(LaneOrder order, std::uint64_t seed = 1);

/// The emulated device: by default compute capability 8.0 and 8 GiB, else GLM_EMU_CAPABILITY ("75") and
/// GLM_EMU_MEMORY_MIB.
void set_compute_capability(int major, int minor);
void set_device_memory(std::size_t bytes);

/// The n-th device or pinned allocation from now on (1 = the next) fails as if memory were exhausted; 0
/// switches this off.
void fail_allocation(std::size_t n);

/// Counts since start.
struct Counters {
    std::size_t device_allocations = 0;  ///< cudaMalloc that succeeded
    std::size_t pinned_allocations = 0;
    std::size_t live_device_bytes = 0;
    std::size_t peak_device_bytes = 0;
    std::size_t kernels = 0;
    std::size_t cuda_threads = 0;
    std::size_t bytes_read = 0;     ///< from device memory by kernels; check build only
    std::size_t bytes_written = 0;  ///< to device memory by kernels; check build only
};
Counters counters();

/// From here on device and pinned allocations are reported: "no allocation after load". false ends it.
void forbid_allocation(bool forbidden);

/// Reports what has not been given back: memory, streams, events, graphs, cuBLAS handles.
void report_leaks();

/// Whether running `code` touches memory that host code must not touch (a fault). Not in the asan build,
/// which ends the program.
bool host_faults(void (*code)(void*), void* argument);

}  // namespace emu
