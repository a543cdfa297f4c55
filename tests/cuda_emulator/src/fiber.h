#pragma once

#include <cstddef>
#include <cstdint>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

/// Stackful coroutines: one per CUDA thread of a block, all on the OS thread that runs the block.
namespace emu {

inline constexpr unsigned kMaxFibers = 1024;
#if defined(EMU_ASAN)
inline constexpr std::size_t kStackBytes = 256 * 1024;
#else
inline constexpr std::size_t kStackBytes = 64 * 1024;
#endif

struct Fiber {
#if defined(__x86_64__)
    void* stack_pointer = nullptr;
#else
    ucontext_t context = {};
#endif
    void* fake_stack = nullptr;  ///< AddressSanitizer's
    char* stack_low = nullptr;   ///< null for the scheduler, which runs on the OS thread's own stack
    char* stack_high = nullptr;
};

/// Makes `fiber` number `index` start at `entry`, which must not return, when it is next switched to.
void prepare_fiber(Fiber& fiber, unsigned index, void (*entry)());
/// @param leaves_for_good  `from` is never switched to again
void switch_fiber(Fiber& from, Fiber& to, bool leaves_for_good = false);
/// First thing a fresh fiber does.
void fiber_started();
/// Number of the fiber whose unreadable lowest page holds `address`, or -1: a stack overflow.
int fiber_of_guard_page(const void* address);
/// Forgets what AddressSanitizer knows about the frames of abandoned fibers.
void forget_stack_frames(unsigned num_fibers);

}  // namespace emu
