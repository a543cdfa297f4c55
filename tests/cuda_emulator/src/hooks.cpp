#include <cstring>

#include "access.h"
#include "machine.h"

/// Check build: kernels are compiled with the compiler's instrumentation for data races, alignment and array
/// bounds, but these are the functions it calls. Every load and store of a kernel thus arrives here without a
/// change in its source.
namespace emu {
namespace {

template <std::size_t kBytes, bool kAligned>
void access(const void* address, bool write, const void* program_address) {
    if (!in_kernel_code) return;
    const OutsideKernel scope;
    judge_access(address, kBytes, {.write = write, .needs_alignment = kAligned ? kBytes : 1},
                 {{}, program_address});
}

void range(const void* address, std::size_t bytes, bool write, const void* program_address) {
    if (!in_kernel_code || bytes == 0) return;
    const OutsideKernel scope;
    judge_access(address, bytes, {.write = write}, {{}, program_address});
}

/// First members of what the compiler passes about an alignment or bounds check.
struct SourceLocation {
    const char* file;
    std::uint32_t line;
    std::uint32_t column;
};

Site site_of(const void* data) {
    const auto* const location = static_cast<const SourceLocation*>(data);
    return {location->file, static_cast<int>(location->line)};
}

struct TypeMismatch {
    SourceLocation location;
    const void* type;
    unsigned char log_alignment;
    unsigned char kind;
};

}  // namespace
}  // namespace emu

// The names are the compiler's.
#define EMU_ACCESS_HOOKS(bytes)                                                 \
    void __tsan_read##bytes(void* address) {                                    \
        emu::access<bytes, true>(address, false, __builtin_return_address(0));  \
    }                                                                           \
    void __tsan_write##bytes(void* address) {                                   \
        emu::access<bytes, true>(address, true, __builtin_return_address(0));   \
    }                                                                           \
    void __tsan_unaligned_read##bytes(void* address) {                          \
        emu::access<bytes, false>(address, false, __builtin_return_address(0)); \
    }                                                                           \
    void __tsan_unaligned_write##bytes(void* address) {                         \
        emu::access<bytes, false>(address, true, __builtin_return_address(0));  \
    }                                                                           \
    void __tsan_read_write##bytes(void* address) {                              \
        emu::access<bytes, true>(address, false, __builtin_return_address(0));  \
        emu::access<bytes, true>(address, true, __builtin_return_address(0));   \
    }                                                                           \
    void __tsan_unaligned_read_write##bytes(void* address) {                    \
        emu::access<bytes, false>(address, false, __builtin_return_address(0)); \
        emu::access<bytes, false>(address, true, __builtin_return_address(0));  \
    }

extern "C" {

EMU_ACCESS_HOOKS(1)
EMU_ACCESS_HOOKS(2)
EMU_ACCESS_HOOKS(4)
EMU_ACCESS_HOOKS(8)
EMU_ACCESS_HOOKS(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* address, std::size_t bytes) {
    emu::range(address, bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(void* address, std::size_t bytes) {
    emu::range(address, bytes, true, __builtin_return_address(0));
}

// objcopy renames the kernels' calls of memcpy, memmove and memset to these.
void* emu_memcpy(void* destination, const void* source, std::size_t bytes) {
    emu::range(source, bytes, false, __builtin_return_address(0));
    emu::range(destination, bytes, true, __builtin_return_address(0));
    return std::memcpy(destination, source, bytes);
}
void* emu_memmove(void* destination, const void* source, std::size_t bytes) {
    emu::range(source, bytes, false, __builtin_return_address(0));
    emu::range(destination, bytes, true, __builtin_return_address(0));
    return std::memmove(destination, source, bytes);
}
void* emu_memset(void* destination, int value, std::size_t bytes) {
    emu::range(destination, bytes, true, __builtin_return_address(0));
    return std::memset(destination, value, bytes);
}

void __ubsan_handle_type_mismatch_v1(void* data, void* pointer) {
    if (!emu::in_kernel_code) return;
    const emu::OutsideKernel scope;
    const auto* const mismatch = static_cast<const emu::TypeMismatch*>(data);
    emu::report(emu::Finding::kMisaligned,
                emu::format("address %p is not a multiple of the %u bytes that its type needs", pointer,
                            1U << mismatch->log_alignment),
                {emu::site_of(data)});
    emu::abort_kernel(cudaErrorMisalignedAddress);
}

void __ubsan_handle_out_of_bounds(void* data, void* index) {
    if (!emu::in_kernel_code) return;
    const emu::OutsideKernel scope;
    emu::report(emu::Finding::kArrayIndex,
                emu::format("index %td outside the array", reinterpret_cast<std::ptrdiff_t>(index)),
                {emu::site_of(data)});
    emu::abort_kernel();
}

}  // extern "C"
