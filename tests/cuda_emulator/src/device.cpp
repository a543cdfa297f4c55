#include "device.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "shared_memory.h"
#include <sys/mman.h>

#if defined(EMU_ASAN)
#include <sanitizer/asan_interface.h>
#endif

namespace emu {
namespace {

constexpr std::size_t kRedZone = 256;
constexpr std::size_t kAlignment = 256;
constexpr std::size_t kPage = 4096;

std::map<const char*, Buffer> buffers;  // by address, freed ones included: no address is given out twice
std::size_t arena_end = 0;
int open_count = 0;

Device device_from_environment() {
    Device value;
    if (const char* capability = std::getenv("GLM_EMU_CAPABILITY")) {
        value.major = std::atoi(capability) / 10;
        value.minor = std::atoi(capability) % 10;
    }
    if (const char* mib = std::getenv("GLM_EMU_MEMORY_MIB"))
        value.memory_bytes = std::strtoull(mib, nullptr, 10) << 20;
    return value;
}

void* reserve_addresses(std::size_t bytes, int protection) {
    void* memory = mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        std::perror("CUDA emulator: address space for device memory");
        std::abort();
    }
    return memory;
}

/// Opens or closes whole pages around [begin, end) of the arena.
void protect(std::size_t begin, std::size_t end, bool open) {
    const std::size_t first = begin / kPage * kPage;
    const std::size_t last = (end + kPage - 1) / kPage * kPage;
    if (first < last) mprotect(arena.base + first, last - first, open ? PROT_READ | PROT_WRITE : PROT_NONE);
}

/// Opens or closes everything from the first live buffer on; what lies before stays closed for good.
void protect_arena() {
    static std::size_t closed = 0;  // no live buffer begins before this
    for (auto next = buffers.lower_bound(arena.base + closed); next != buffers.end(); ++next) {
        if (next->second.live) break;
        closed = arena.offset(next->first) + 1;
    }
    protect(closed, arena_end, open_count > 0);
}

void set_states(const char* begin, std::size_t bytes, ByteState state) {
    if constexpr (kJudgesMemory)
        std::memset(arena.states + arena.offset(begin), static_cast<int>(state), bytes);
}

/// Gives whole pages of a freed buffer back to the system; they read as zero, which is what kNone and an
/// unused cell are.
void drop_pages(const Buffer& buffer) {
    const std::size_t begin = arena.offset(buffer.address);
    const std::size_t first = (begin + kPage - 1) / kPage * kPage;
    const std::size_t end = (begin + buffer.bytes) / kPage * kPage;
    if (first >= end) return;
    madvise(arena.base + first, end - first, MADV_DONTNEED);
    if constexpr (kJudgesMemory) {
        madvise(arena.states + first, end - first, MADV_DONTNEED);
        madvise(arena.cells + first / kCellGranule, (end - first) / kCellGranule * sizeof(Cell),
                MADV_DONTNEED);
    }
}

/// The last buffer, live or freed, that begins at or before `address`.
const Buffer* buffer_before(const char* address) {
    auto next = buffers.upper_bound(address);
    return next == buffers.begin() ? nullptr : &std::prev(next)->second;
}

std::string describe_device_address(const char* address, std::size_t bytes) {
    const Buffer* before = buffer_before(address);
    const auto after = buffers.upper_bound(address);
    if (before != nullptr && address < before->address + before->bytes) {
        if (!before->live) return format("a freed device buffer of %zu bytes", before->bytes);
        return format("byte %td of a device buffer of %zu bytes, %zu bytes wide", address - before->address,
                      before->bytes, bytes);
    }
    if (after != buffers.end() && after->second.address - address <= static_cast<std::ptrdiff_t>(kRedZone)) {
        return format("%td bytes before a device buffer of %zu bytes", after->second.address - address,
                      after->second.bytes);
    }
    if (before == nullptr) return "device memory that was never allocated";
    return format("%td bytes past the end of a %sdevice buffer of %zu bytes",
                  address - (before->address + before->bytes), before->live ? "" : "freed ", before->bytes);
}

}  // namespace

DeviceArena arena;

Device& device() {
    static Device value = device_from_environment();
    return value;
}

void map_arena() {
    if (arena.base != nullptr) return;
    arena.base = static_cast<char*>(reserve_addresses(kArenaBytes, PROT_NONE));
    if constexpr (kJudgesMemory) {
        arena.states = static_cast<ByteState*>(reserve_addresses(kArenaBytes, PROT_READ | PROT_WRITE));
        arena.cells = static_cast<Cell*>(
            reserve_addresses(kArenaBytes / kCellGranule * sizeof(Cell), PROT_READ | PROT_WRITE));
    }
}

void* allocate_buffer(std::size_t bytes) {
    map_arena();
    if (bytes > device().memory_bytes || count.live_device_bytes + bytes > device().memory_bytes)
        return nullptr;
    const std::size_t begin = (arena_end + kRedZone + kAlignment - 1) / kAlignment * kAlignment;
    if (begin + bytes + kRedZone > kArenaBytes) return nullptr;
    arena_end = begin + bytes + kRedZone;
    char* const address = arena.base + begin;
    buffers[address] = {address, bytes, true};
    protect(begin - kRedZone, arena_end, true);
#if defined(EMU_ASAN)
    __asan_poison_memory_region(address - kRedZone, kRedZone);
    __asan_poison_memory_region(address + bytes, kRedZone);
#endif
    std::memset(address, 0xFF, bytes);
    set_states(address, bytes, ByteState::kUninitialised);
    if (open_count == 0) protect(begin - kRedZone, arena_end, false);
    count.live_device_bytes += bytes;
    count.peak_device_bytes = std::max(count.peak_device_bytes, count.live_device_bytes);
    return address;
}

bool free_buffer(void* address) {
    const auto found = buffers.find(static_cast<char*>(address));
    if (found == buffers.end() || !found->second.live) return false;
    Buffer& buffer = found->second;
    buffer.live = false;
    count.live_device_bytes -= buffer.bytes;
    set_states(buffer.address, buffer.bytes, ByteState::kNone);
    drop_pages(buffer);
#if defined(EMU_ASAN)
    __asan_poison_memory_region(buffer.address, buffer.bytes);
#endif
    return true;
}

const Buffer* buffer_of(const void* address, std::size_t bytes) {
    const auto* const begin = static_cast<const char*>(address);
    const Buffer* const buffer = buffer_before(begin);
    if (buffer == nullptr || !buffer->live || begin + bytes > buffer->address + buffer->bytes) return nullptr;
    return buffer;
}

std::vector<Buffer> live_buffers() {
    std::vector<Buffer> live;
    for (const auto& [address, buffer] : buffers) {
        if (buffer.live) live.push_back(buffer);
    }
    return live;
}

std::string describe_address(const void* address, std::size_t bytes) {
    if (arena.base != nullptr && arena.holds(address)) {
        return describe_device_address(static_cast<const char*>(address), bytes);
    }
    if (shared_arena().holds(address)) return "shared memory outside its arrays";
    if (reinterpret_cast<std::uintptr_t>(address) < kPage) return "a null pointer";
    return "host memory or another thread's local memory";
}

OpenArena::OpenArena() {
    if (open_count++ == 0) protect_arena();
}

OpenArena::~OpenArena() {
    if (--open_count == 0) protect_arena();
}

void set_compute_capability(int major, int minor) {
    device().major = major;
    device().minor = minor;
}

void set_device_memory(std::size_t bytes) {
    device().memory_bytes = bytes;
}

}  // namespace emu
