#include "shared_memory.h"

#include <cstdlib>
#include <cstring>
#include <map>

#include "device.h"
#include <sys/mman.h>

#if defined(EMU_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace emu {
namespace {

constexpr std::size_t kRedZone = 256;
constexpr std::size_t kAlignment = 16;

struct SharedArray {
    const void* declaration;
    std::size_t offset;
    std::size_t bytes;
    Site site;
    bool declared_in_block;
};

struct Layout {
    std::vector<SharedArray> arrays;
    std::size_t end = 0;
    std::size_t dynamic_bytes = 0;
    std::size_t dynamic_offset = 0;
};
Layout layout;

void* map_pages(std::size_t bytes) {
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("CUDA emulator: shared memory");
        std::abort();
    }
    return memory;
}

SharedArena make_arena() {
    SharedArena memory;
    memory.base = static_cast<char*>(map_pages(kSharedArenaBytes));
    if constexpr (kJudgesMemory) {
        memory.states = static_cast<ByteState*>(map_pages(kSharedArenaBytes));
        memory.cells = static_cast<Cell*>(map_pages(kSharedArenaBytes * sizeof(Cell)));
    }
#if defined(EMU_ASAN)
    __asan_poison_memory_region(memory.base, kSharedArenaBytes);
#endif
    return memory;
}

void poison(std::size_t begin, std::size_t end) {
#if defined(EMU_ASAN)
    __asan_poison_memory_region(shared_arena().base + begin, end - begin);
#else
    static_cast<void>(begin);
    static_cast<void>(end);
#endif
}

/// Bytes as a block finds them: there, but holding nothing.
void give(std::size_t offset, std::size_t bytes) {
    SharedArena& memory = shared_arena();
#if defined(EMU_ASAN)
    __asan_unpoison_memory_region(memory.base + offset, bytes);
#endif
    std::memset(memory.base + offset, 0xFF, bytes);
    if constexpr (kJudgesMemory)
        std::memset(memory.states + offset, static_cast<int>(ByteState::kUninitialised), bytes);
}

std::size_t reserve(std::size_t bytes, Site site) {
    const std::size_t padded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    const std::size_t offset = layout.end;
    if (offset + padded + kRedZone > kSharedArenaBytes) {
        report(Finding::kLimit, "shared memory of one block beyond 1 MiB", {site});
        abort_kernel(cudaErrorLaunchOutOfResources);
    }
    layout.end = offset + padded + kRedZone;
    return offset;
}

std::size_t static_bytes() {
    std::size_t sum = 0;
    for (const SharedArray& array : layout.arrays) sum += array.bytes;
    return sum;
}

std::map<const void*, std::size_t>& opted_in() {
    static std::map<const void*, std::size_t> kernels;
    return kernels;
}

}  // namespace

SharedArena& shared_arena() {
    static SharedArena memory = make_arena();
    return memory;
}

void forget_shared_layout() {
    if constexpr (kJudgesMemory) std::memset(shared_arena().states, 0, layout.end);
    poison(0, layout.end);
    layout = {};
}

void prepare_shared_memory(std::size_t dynamic_bytes) {
    if (layout.end == 0) {
        layout.end = kRedZone;
        layout.dynamic_bytes = dynamic_bytes;
        layout.dynamic_offset = layout.end;
        layout.end += (dynamic_bytes + kAlignment - 1) / kAlignment * kAlignment + kRedZone;
    }
    for (SharedArray& array : layout.arrays) array.declared_in_block = false;
    poison(0, layout.end);
    give(layout.dynamic_offset, dynamic_bytes);
}

void* shared_array(const void* declaration, std::size_t bytes, Site site) {
    const OutsideKernel scope;
    for (SharedArray& array : layout.arrays) {
        if (array.declaration != declaration) continue;
        if (!array.declared_in_block) give(array.offset, array.bytes);
        array.declared_in_block = true;
        return shared_arena().base + array.offset;
    }
    const std::size_t offset = reserve(bytes, site);
    layout.arrays.push_back({declaration, offset, bytes, site, true});
    give(offset, bytes);
    return shared_arena().base + offset;
}

void* dynamic_shared_memory(Site site) {
    const OutsideKernel scope;
    if (layout.dynamic_bytes == 0) {
        report(Finding::kLimit, "GLM_DYN_SHARED in a launch without LaunchCfg::smem", {site});
        abort_kernel(cudaErrorLaunchFailure);
    }
    return shared_arena().base + layout.dynamic_offset;
}

void check_shared_memory_limits() {
    const std::size_t fixed = static_bytes();
    const Site site = layout.arrays.empty() ? block.launch->site : layout.arrays.back().site;
    if (fixed > kDefaultSharedBytes) {
        report(Finding::kLimit, format("%zu bytes of GLM_SHARED arrays; at most 49152 compile", fixed),
               {site});
    }
    const std::size_t limit = shared_limit_of(block.launch->kernel);
    if (fixed + layout.dynamic_bytes > limit) {
        report(Finding::kLimit,
               format("%zu bytes of shared memory per block, %zu of them dynamic; this kernel may have %zu",
                      fixed + layout.dynamic_bytes, layout.dynamic_bytes, limit),
               {site});
    }
}

std::size_t max_opt_in_shared() {
    const int capability = device().major * 10 + device().minor;
    const std::size_t kib = capability == 75                       ? 64
                            : capability == 80 || capability == 87 ? 163
                            : capability >= 90 && capability < 120 ? 227
                                                                   : 99;
    return kib * 1024;
}

std::size_t shared_limit_of(const void* kernel) {
    const auto found = opted_in().find(kernel);
    return found == opted_in().end() ? kDefaultSharedBytes : max_opt_in_shared();
}

void set_dynamic_shared(const void* kernel, std::size_t bytes) {
    opted_in()[kernel] = bytes;
}

}  // namespace emu
