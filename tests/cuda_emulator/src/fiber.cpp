#include "fiber.h"

#include <cstdio>
#include <cstdlib>

#include <sys/mman.h>

#if defined(EMU_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

#if defined(__x86_64__)
// void emu_switch_stack(void** save, void* load): keeps what the System V ABI calls callee-saved on the stack
// that is left.
asm(R"(
.text
.globl emu_switch_stack
.type emu_switch_stack, @function
emu_switch_stack:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size emu_switch_stack, .-emu_switch_stack
)");
extern "C" void emu_switch_stack(void** save, void* load);
#endif

namespace emu {
namespace {

constexpr std::size_t kGuardBytes = 4096;

char* map_stacks() {
    void* memory = mmap(nullptr, kMaxFibers * kStackBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("CUDA emulator: stacks");
        std::abort();
    }
    char* const stacks = static_cast<char*>(memory);
    for (unsigned i = 0; i < kMaxFibers; ++i) mprotect(stacks + i * kStackBytes, kGuardBytes, PROT_NONE);
    return stacks;
}

char* all_stacks() {
    static char* const stacks = map_stacks();
    return stacks;
}

#if defined(EMU_ASAN)
Fiber* left_fiber = nullptr;

void finish_switch(Fiber& arrived) {
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(arrived.fake_stack, &bottom, &size);
    if (left_fiber->stack_low == nullptr) {  // where the OS thread's stack lies is only told when leaving it
        left_fiber->stack_low = static_cast<char*>(const_cast<void*>(bottom));
        left_fiber->stack_high = left_fiber->stack_low + size;
    }
}
#endif

}  // namespace

void prepare_fiber(Fiber& fiber, unsigned index, void (*entry)()) {
    char* const low = all_stacks() + index * kStackBytes;
    // Stack tops at equal distances would all map to the same cache set.
    char* const high = low + kStackBytes - (index * 7 % 61) * 64;
    fiber.stack_low = low;
    fiber.stack_high = low + kStackBytes;
    fiber.fake_stack = nullptr;
#if defined(__x86_64__)
    auto** const top = reinterpret_cast<void**>(high);
    void** const frame = top - 8;  // six registers, the entry, and a return address that ends the call chain
    for (int i = 0; i < 6; ++i) frame[i] = nullptr;
    frame[6] = reinterpret_cast<void*>(entry);
    frame[7] = nullptr;
    fiber.stack_pointer = frame;
#else
    getcontext(&fiber.context);
    fiber.context.uc_stack.ss_sp = low + kGuardBytes;
    fiber.context.uc_stack.ss_size = static_cast<std::size_t>(high - low) - kGuardBytes;
    fiber.context.uc_link = nullptr;
    makecontext(&fiber.context, entry, 0);
#endif
}

void switch_fiber(Fiber& from, Fiber& to, bool leaves_for_good) {
#if defined(EMU_ASAN)
    left_fiber = &from;
    __sanitizer_start_switch_fiber(leaves_for_good ? nullptr : &from.fake_stack, to.stack_low,
                                   static_cast<std::size_t>(to.stack_high - to.stack_low));
#else
    static_cast<void>(leaves_for_good);
#endif
#if defined(__x86_64__)
    emu_switch_stack(&from.stack_pointer, to.stack_pointer);
#else
    swapcontext(&from.context, &to.context);
#endif
#if defined(EMU_ASAN)
    finish_switch(from);
#endif
}

void fiber_started() {
#if defined(EMU_ASAN)
    Fiber fresh;
    finish_switch(fresh);
#endif
}

int fiber_of_guard_page(const void* address) {
    const auto* const at = static_cast<const char*>(address);
    char* const stacks = all_stacks();
    if (at < stacks || at >= stacks + kMaxFibers * kStackBytes) return -1;
    const auto offset = static_cast<std::size_t>(at - stacks);
    return offset % kStackBytes < kGuardBytes ? static_cast<int>(offset / kStackBytes) : -1;
}

void forget_stack_frames(unsigned num_fibers) {
#if defined(EMU_ASAN)
    __asan_unpoison_memory_region(all_stacks(), num_fibers * kStackBytes);
#else
    static_cast<void>(num_fibers);
#endif
}

}  // namespace emu
