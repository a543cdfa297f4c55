#include "access.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "device.h"
#include "shared_memory.h"
#include "streams.h"

/// Epochs order accesses. Within a block an access is ordered before another if a barrier lies between (other
/// epoch), if the same thread made it, or if the same warp passed a __syncwarp between. Between blocks of a
/// kernel only a fence followed by an atomic orders, between stream operations their vector clocks.
/// Everything else that touches the same bytes, one of them writing and not both atomic, is a race, whatever
/// order the emulator happened to run them in.
namespace emu {
namespace {

// Bits of Mark::who.
constexpr std::uint16_t kThreadBits = 0x03FF;
constexpr std::uint16_t kAtomic = 0x0400;
constexpr std::uint16_t kSeveralLanes = 0x0800;
constexpr std::uint16_t kSeveralWarps = 0x1000;
constexpr std::uint16_t kLowByte = 0x2000;
constexpr std::uint16_t kHighByte = 0x4000;
constexpr std::uint16_t kBothBytes = kLowByte | kHighByte;
constexpr std::uint16_t kMixed = 0x8000;          // of a write: different threads wrote the two bytes
constexpr std::uint16_t kSeveralBlocks = 0x8000;  // of a read: blocks before this one read it too

std::uint32_t operation_first = 0;
std::uint32_t block_first = 0;

/// What a block made visible by fence + atomic: its accesses before `up_to`, and those of `thread` at it.
struct Release {
    std::uint32_t first;
    std::uint32_t up_to;
    unsigned thread;
};
std::unordered_map<const void*, std::vector<Release>> releases;  // per atomic variable, of this kernel
std::vector<const void*> acquired;  // variables that this block has read atomically

unsigned thread_of(const Mark& mark) {
    return mark.who & kThreadBits;
}

bool released(const Mark& earlier) {
    for (const void* const variable : acquired) {
        const std::vector<Release>& list = releases[variable];
        auto after = std::upper_bound(list.begin(), list.end(), earlier.epoch,
                                      [](std::uint32_t value, const Release& r) { return value < r.first; });
        if (after == list.begin()) continue;
        const std::uint32_t first = std::prev(after)->first;
        for (; after != list.begin() && std::prev(after)->first == first; --after) {
            const Release& release = *std::prev(after);
            if (earlier.epoch < release.up_to) return true;
            const bool own =
                (earlier.who & (kSeveralLanes | kSeveralWarps)) == 0 && thread_of(earlier) == release.thread;
            if (earlier.epoch == release.up_to && own) return true;
        }
    }
    return false;
}

/// Both in the same block between the same two barriers.
bool conflicts_within_epoch(const Mark& earlier, const Mark& mine, bool earlier_wrote) {
    if (earlier_wrote && (earlier.who & kMixed) != 0)
        return false;  // who wrote which byte is not known any more
    if ((earlier.who & kSeveralWarps) != 0) return true;
    if (thread_of(earlier) / kWarpLanes != thread_of(mine) / kWarpLanes) return true;
    if (earlier.syncs != mine.syncs) return false;
    return (earlier.who & kSeveralLanes) != 0 || thread_of(earlier) != thread_of(mine);
}

bool conflicts(const Mark& earlier, const Mark& mine, bool earlier_wrote, bool shared) {
    if (earlier.epoch == 0 || (earlier.who & mine.who & kBothBytes) == 0) return false;
    if ((earlier.who & mine.who & kAtomic) != 0) return false;
    if (!shared && !earlier_wrote && (earlier.who & kSeveralBlocks) != 0 && earlier.epoch >= operation_first)
        return true;
    if (earlier.epoch == epoch) return conflicts_within_epoch(earlier, mine, earlier_wrote);
    if (shared || earlier.epoch >= block_first) return false;
    if (earlier.epoch >= operation_first) return !released(earlier);
    return !operation_happened_before(earlier.epoch);
}

void note_write(Cell& cell, const Mark& mine) {
    Mark& mark = cell.write;
    const bool other_byte = mark.epoch == mine.epoch && (mark.who & mine.who & kBothBytes) == 0;
    if (!other_byte) {
        mark = mine;
        return;
    }
    if (thread_of(mark) != thread_of(mine)) mark.who |= kMixed;
    mark.who |= mine.who & kBothBytes;
}

void note_read(Cell& cell, const Mark& mine) {
    Mark& mark = cell.read;
    if (mark.epoch != mine.epoch) {
        const bool other_block = mark.epoch >= operation_first && mark.epoch < block_first;
        const bool others = other_block || (mark.epoch >= block_first && (mark.who & kSeveralBlocks) != 0);
        mark = mine;
        if (others && mine.epoch != 0) mark.who |= kSeveralBlocks;
        return;
    }
    const std::uint16_t bytes = (mark.who | mine.who) & kBothBytes;
    if (thread_of(mark) / kWarpLanes != thread_of(mine) / kWarpLanes) {
        mark.who |= kSeveralWarps;
    } else if (mark.syncs != mine.syncs) {
        const std::uint16_t kept = mark.who & (kSeveralWarps | kSeveralBlocks);
        mark = mine;
        mark.who |= kept;
    } else if (thread_of(mark) != thread_of(mine)) {
        mark.who |= kSeveralLanes;
    }
    mark.who |= bytes;
}

enum class Race { kNone, kWithWrite, kWithRead };

Race touch(Cell& cell, const Mark& mine, bool write, bool shared) {
    Race race = Race::kNone;
    if (conflicts(cell.write, mine, true, shared))
        race = Race::kWithWrite;
    else if (write && conflicts(cell.read, mine, false, shared))
        race = Race::kWithRead;
    if (write)
        note_write(cell, mine);
    else
        note_read(cell, mine);
    return race;
}

Mark my_mark(bool atomic) {
    const Lane& lane = this_lane();
    const auto who = static_cast<std::uint16_t>(lane.index | (atomic ? kAtomic : 0) | kBothBytes);
    return {epoch, who, block.warps[lane.warp()].syncs};
}

std::string racing_text(const Mark& earlier, bool write, Race race, bool shared) {
    const char* const mine = write ? "write" : "read";
    const char* const other = race == Race::kWithWrite ? "write" : "read";
    if (!shared && earlier.epoch < operation_first) {
        return format(
            "%s of device memory races with a %s by %s: no event or synchronisation between the streams",
            mine, other, operation_of(earlier.epoch).c_str());
    }
    if (!shared && earlier.epoch < block_first) {
        return format("%s of device memory races with a %s by another block", mine, other);
    }
    return format("%s of %s memory races with a %s by thread %u%s of this block", mine,
                  shared ? "shared" : "device", other, thread_of(earlier),
                  (earlier.who & (kSeveralLanes | kSeveralWarps)) != 0 ? " and others" : "");
}

void report_race(const Cell& before, bool write, Race race, bool shared, Place place) {
    const Mark& earlier = race == Race::kWithWrite ? before.write : before.read;
    report(shared ? Finding::kSharedRace : Finding::kGlobalRace, racing_text(earlier, write, race, shared),
           place);
}

// --- states ---

bool all_are(const ByteState* states, std::size_t bytes, ByteState wanted) {
    return std::all_of(states, states + bytes, [wanted](ByteState state) { return state == wanted; });
}

bool any_is(const ByteState* states, std::size_t bytes, ByteState state) {
    return std::find(states, states + bytes, state) != states + bytes;
}

[[noreturn]] void out_of_bounds(const void* address, std::size_t bytes, bool write, Place place) {
    report(Finding::kOutOfBounds,
           format("%s of %zu bytes at %s", write ? "write" : "read", bytes,
                  describe_address(address, bytes).c_str()),
           place);
    abort_kernel();
}

void judge_states(ByteState* states, const void* address, std::size_t bytes, const AccessRule& rule,
                  Place place) {
    if (all_are(states, bytes, ByteState::kValid)) {
        if (rule.fills_later) std::memset(states, static_cast<int>(ByteState::kPending), bytes);
        return;
    }
    if (any_is(states, bytes, ByteState::kNone)) out_of_bounds(address, bytes, rule.write, place);
    if (any_is(states, bytes, ByteState::kPending) && !rule.completes) {
        report(
            Finding::kInFlight,
            format("%s of bytes that an asynchronous copy is still filling", rule.write ? "write" : "read"),
            place);
    }
    const bool reads = !rule.write || rule.atomic;
    if (reads && any_is(states, bytes, ByteState::kUninitialised)) {
        report(Finding::kUninitialised,
               format("read of %zu uninitialised bytes at %s", bytes,
                      shared_arena().holds(address) ? "shared memory"
                                                    : describe_address(address, bytes).c_str()),
               place);
    }
    if (rule.fills_later) {
        std::memset(states, static_cast<int>(ByteState::kPending), bytes);
    } else if (rule.write) {
        std::memset(states, static_cast<int>(ByteState::kValid), bytes);
    }
}

void judge_shared(const void* address, std::size_t bytes, const AccessRule& rule, Place place) {
    SharedArena& shared = shared_arena();
    const std::size_t offset = shared.offset(address);
    judge_states(shared.states + offset, address, bytes, rule, place);
    const Mark mine = my_mark(rule.atomic);
    for (std::size_t i = 0; i < bytes; ++i) {
        Cell& cell = shared.cells[offset + i];
        const Cell before = cell;
        const Race race = touch(cell, mine, rule.write, true);
        if (race == Race::kNone) continue;
        report_race(before, rule.write, race, true, place);
        return;
    }
}

/// Which bytes of the granule that begins at `granule` lie in [begin, end).
std::uint16_t touched_bytes(std::size_t granule, std::size_t begin, std::size_t end) {
    return static_cast<std::uint16_t>((granule >= begin ? kLowByte : 0) |
                                      (granule + 1 < end ? kHighByte : 0));
}

/// Marks device bytes; the first race is reported, the rest of the access not looked at.
void touch_device(std::size_t begin, std::size_t bytes, Mark mine, bool write, Place place) {
    const std::size_t end = begin + bytes;
    const auto base = static_cast<std::uint16_t>(mine.who & ~kBothBytes);
    for (std::size_t granule = begin / kCellGranule * kCellGranule; granule < end; granule += kCellGranule) {
        Cell& cell = arena.cells[granule / kCellGranule];
        mine.who = base | touched_bytes(granule, begin, end);
        if (!write && cell.read.epoch == mine.epoch && cell.read.who == mine.who &&
            cell.write.epoch < operation_first && cell.read.syncs == mine.syncs) {
            continue;  // the same thread has just read this, and was judged then
        }
        const Cell before = cell;
        const Race race = touch(cell, mine, write, false);
        if (race == Race::kNone) continue;
        report_race(before, write, race, false, place);
        return;
    }
}

void judge_device(const void* address, std::size_t bytes, const AccessRule& rule, Place place) {
    const std::size_t offset = arena.offset(address);
    judge_states(arena.states + offset, address, bytes, rule, place);
    touch_device(offset, bytes, my_mark(rule.atomic), rule.write, place);
    (rule.write ? count.bytes_written : count.bytes_read) += bytes;
}

extern "C" const char __executable_start;
extern "C" const char _end;

bool in_program_image(const void* address) {
    return address >= &__executable_start && address < &_end;
}

bool on_own_stack(const void* address) {
    const Fiber& fiber = this_lane().fiber;
    return address >= fiber.stack_low && address < fiber.stack_high;
}

void judge_spaces(const void* address, std::size_t bytes, const AccessRule& rule, Place place) {
    const bool shared = shared_arena().holds(address);
    const bool in_device = arena.base != nullptr && arena.holds(address);
    if ((rule.shared_only && !shared) || (rule.device_only && !in_device)) {
        report(Finding::kOutOfBounds,
               format("an address in %s memory is needed; this is %s", rule.shared_only ? "shared" : "device",
                      describe_address(address, bytes).c_str()),
               place);
        abort_kernel();
    }
    if constexpr (!kJudgesMemory) return;
    if (shared) {
        judge_shared(address, bytes, rule, place);
    } else if (in_device) {
        judge_device(address, bytes, rule, place);
    } else if (!on_own_stack(address) && (rule.write || !in_program_image(address))) {
        out_of_bounds(address, bytes, rule.write, place);
    }
}

}  // namespace

void judge_access(const void* address, std::size_t bytes, AccessRule rule, Place place) {
    if (reinterpret_cast<std::uintptr_t>(address) % rule.needs_alignment != 0) {
        report(Finding::kMisaligned,
               format("address %p is not a multiple of the %u bytes that this access needs", address,
                      rule.needs_alignment),
               place);
        abort_kernel(cudaErrorMisalignedAddress);
    }
    judge_spaces(address, bytes, rule, place);
}

bool judge_operation(const void* address, std::size_t bytes, Purpose purpose, const char* what) {
    if (bytes == 0) return true;
    const bool write = purpose == Purpose::kWrite;
    if (buffer_of(address, bytes) == nullptr) {
        report(Finding::kOutOfBounds, format("%s %s %zu bytes at %s", what, write ? "writes" : "reads", bytes,
                                             describe_address(address, bytes).c_str()));
        return false;
    }
    if constexpr (!kJudgesMemory) return true;
    ByteState* const states = arena.states + arena.offset(address);
    if (purpose == Purpose::kRead && any_is(states, bytes, ByteState::kUninitialised)) {
        report(Finding::kUninitialised,
               format("%s reads uninitialised bytes of %s", what, describe_address(address, bytes).c_str()));
    }
    if (write) std::memset(states, static_cast<int>(ByteState::kValid), bytes);
    const Mark mine{epoch, kBothBytes, 0};
    touch_device(arena.offset(address), bytes, mine, write, {});
    return true;
}

void operation_started() {
    ++epoch;
    operation_first = epoch;
    block_first = epoch;
    releases.clear();
    acquired.clear();
}

void block_started() {
    block_first = epoch;
    acquired.clear();
}

// --- accesses whose size the kernel states ---

uint4 load16(const void* source, Site site) {
    const OutsideKernel scope;
    judge_access(source, 16, {.needs_alignment = 16}, {site});
    uint4 value;
    std::memcpy(&value, source, 16);
    return value;
}

void store16(void* destination, const uint4& value, Site site) {
    const OutsideKernel scope;
    judge_access(destination, 16, {.write = true, .needs_alignment = 16}, {site});
    std::memcpy(destination, &value, 16);
}

void async_copy16(void* destination, const void* source, int src_bytes, Site site) {
    const OutsideKernel scope;
    if (src_bytes < 0 || src_bytes > 16) {
        report(Finding::kLimit, format("cp_async16 of %d source bytes", src_bytes), {site});
        abort_kernel(cudaErrorIllegalInstruction);
    }
    judge_access(destination, 16,
                 {.write = true, .needs_alignment = 16, .shared_only = true, .fills_later = true}, {site});
    if (src_bytes > 0) {
        judge_access(source, static_cast<std::size_t>(src_bytes), {.device_only = true}, {site});
    }
    if (reinterpret_cast<std::uintptr_t>(source) % 16 != 0) {
        report(Finding::kMisaligned, format("source %p of cp_async16 is not a multiple of 16", source),
               {site});
        abort_kernel(cudaErrorMisalignedAddress);
    }
    std::memset(destination, 0xFF, 16);
    Lane& lane = this_lane();
    lane.copies.push_back({static_cast<char*>(destination), static_cast<const char*>(source), src_bytes,
                           lane.open_group, site});
}

void async_commit() {
    ++this_lane().open_group;
}

void async_wait(unsigned newest_groups) {
    const OutsideKernel scope;
    Lane& lane = this_lane();
    const auto arrives = [&](const AsyncCopy& copy) { return copy.group + newest_groups < lane.open_group; };
    for (const AsyncCopy& copy : lane.copies) {
        if (!arrives(copy)) continue;
        judge_access(copy.destination, 16, {.write = true, .completes = true}, {copy.site});
        std::memset(copy.destination, 0, 16);
        std::memcpy(copy.destination, copy.source, static_cast<std::size_t>(copy.src_bytes));
    }
    lane.copies.erase(std::remove_if(lane.copies.begin(), lane.copies.end(), arrives), lane.copies.end());
}

void thread_fence() {
    this_lane().fence_epoch = epoch;
}

void atomic_access(void* address, std::size_t bytes, Site site) {
    const OutsideKernel scope;
    judge_access(address, bytes,
                 {.write = true, .atomic = true, .needs_alignment = static_cast<unsigned>(bytes)}, {site});
    if constexpr (!kJudgesMemory) return;
    const Lane& lane = this_lane();
    if (std::find(acquired.begin(), acquired.end(), address) == acquired.end()) acquired.push_back(address);
    if (lane.fence_epoch != 0) releases[address].push_back({block_first, lane.fence_epoch, lane.index});
}

void raw_copy(void* destination, const void* source, std::size_t bytes) {
    std::memcpy(destination, source, bytes);
}

}  // namespace emu
