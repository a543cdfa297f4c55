#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "access.h"
#include "machine.h"
#include "shared_memory.h"

/// Runs kernels: one block after another, the lanes of a warp until none can go on, then the next warp.
namespace emu {

ThreadState* current = nullptr;
GridState grid;
Block block;
constinit thread_local bool in_kernel_code = false;
std::uint32_t epoch = 1;

namespace {

struct Order {
    LaneOrder kind = LaneOrder::kForward;
    std::uint64_t state = 1;
};

Order order_from_environment() {
    const char* text = std::getenv("GLM_EMU_ORDER");
    if (text == nullptr || std::strcmp(text, "forward") == 0) return {};
    if (std::strcmp(text, "reverse") == 0) return {LaneOrder::kReverse, 1};
    const char* seed = std::strchr(text, ':');
    return {LaneOrder::kRandom, seed == nullptr ? 1 : std::strtoull(seed + 1, nullptr, 10)};
}

Order& order() {
    static Order value = order_from_environment();
    return value;
}

void switch_to_lane(Fiber& from, Lane& next, bool leaves_for_good = false) {
    current = &next;
    in_kernel_code = next.in_kernel_code;
    switch_fiber(from, next.fiber, leaves_for_good);
}

void switch_to_scheduler(Lane& from, bool leaves_for_good) {
    in_kernel_code = false;
    switch_fiber(from.fiber, block.scheduler, leaves_for_good);
}

void go_on(Lane& from, bool leaves_for_good) {
    const Warp& warp = block.warps[from.warp()];
    if (warp.runnable == 0 || block.aborted) {
        switch_to_scheduler(from, leaves_for_good);
        return;
    }
    Lane& next = block.lanes[from.warp() * kWarpLanes + pick_bit(warp.runnable)];
    if (&next != &from) switch_to_lane(from.fiber, next, leaves_for_good);
}

[[noreturn]] void lane_main() {
    fiber_started();
    block.launch->thread_body();
    Lane& lane = this_lane();
    if (!lane.copies.empty()) {
        report(Finding::kCopyNotAwaited,
               format("the thread ended with %zu asynchronous copies not awaited", lane.copies.size()),
               {lane.copies.front().site});
        lane.copies.clear();
    }
    Warp& warp = this_warp();
    warp.runnable &= ~lane.bit();
    warp.exited |= lane.bit();
    complete_collectives(warp);
    go_on(lane, true);
    std::abort();  // nobody switches to a lane that has exited
}

void prepare_lanes(const KernelLaunch& launch) {
    const dim3& extent = launch.block_extent;
    block.num_lanes = extent.x * extent.y * extent.z;
    block.num_warps = (block.num_lanes + kWarpLanes - 1) / kWarpLanes;
    for (unsigned i = 0; i < block.num_lanes; ++i) {
        Lane& lane = block.lanes[i];
        lane.index = i;
        lane.thread = {i % extent.x, i / extent.x % extent.y, i / (extent.x * extent.y)};
        lane.in_kernel_code = false;
        lane.request = nullptr;
        lane.fence_epoch = 0;
        lane.open_group = 0;
        lane.copies.clear();
        prepare_fiber(lane.fiber, i, lane_main);
    }
    for (unsigned w = 0; w < block.num_warps; ++w) {
        const unsigned lanes = std::min(kWarpLanes, block.num_lanes - w * kWarpLanes);
        const std::uint32_t present = lanes == kWarpLanes ? 0xFFFFFFFFU : (1U << lanes) - 1;
        block.warps[w] = {present, present, 0, 0, 0, 0};
    }
}

/// Indices 0 … count - 1 in the order that warps or blocks run.
std::vector<unsigned> running_order(unsigned count) {
    std::vector<unsigned> indices(count);
    std::iota(indices.begin(), indices.end(), 0U);
    if (order().kind == LaneOrder::kReverse) std::reverse(indices.begin(), indices.end());
    if (order().kind == LaneOrder::kRandom) {
        for (unsigned i = count; i > 1; --i) std::swap(indices[i - 1], indices[next_random() % i]);
    }
    return indices;
}

std::string where_it_waits(const Lane& lane) {
    const Warp& warp = block.warps[lane.warp()];
    if ((warp.exited & lane.bit()) != 0) return "has ended";
    if ((warp.at_barrier & lane.bit()) != 0) return "waits at the barrier " + describe(lane.barrier_site);
    return "waits for its warp at " + describe(lane.request->site);
}

/// Nobody can go on and not everybody waits in one place: names two threads that differ.
void report_divergence() {
    const Lane* first = nullptr;
    for (unsigned i = 0; i < block.num_lanes; ++i) {
        const Lane& lane = block.lanes[i];
        if ((block.warps[lane.warp()].exited & lane.bit()) == 0) {
            first = &lane;
            break;
        }
    }
    current = const_cast<Lane*>(first);
    const std::string waits = where_it_waits(*first);
    std::string other;
    for (unsigned i = 0; i < block.num_lanes && other.empty(); ++i) {
        const std::string text = where_it_waits(block.lanes[i]);
        if (text != waits) other = describe_thread(block.lanes[i]) + " " + text;
    }
    const Warp& warp = block.warps[first->warp()];
    const Site site = (warp.at_barrier & first->bit()) != 0 ? first->barrier_site : first->request->site;
    report(Finding::kDivergence,
           "threads wait in different places: this one " + waits + ", " +
               (other.empty() ? "and the collective names lanes that never come" : other),
           {site});
    block.aborted = true;
    sticky_error = cudaErrorLaunchFailure;
}

bool all_wait_at_one_barrier() {
    const Lane& first = block.lanes[0];
    for (unsigned i = 0; i < block.num_lanes; ++i) {
        const Lane& lane = block.lanes[i];
        if ((block.warps[lane.warp()].at_barrier & lane.bit()) == 0) return false;
        if (lane.barrier_kind != first.barrier_kind || lane.barrier_site.line != first.barrier_site.line ||
            std::strcmp(lane.barrier_site.file, first.barrier_site.file) != 0) {
            return false;
        }
    }
    return true;
}

void release_barrier() {
    int count_true = 0;
    for (unsigned i = 0; i < block.num_lanes; ++i) count_true += block.lanes[i].predicate != 0 ? 1 : 0;
    switch (block.lanes[0].barrier_kind) {
        case Barrier::kAnd:
            block.barrier_result = count_true == static_cast<int>(block.num_lanes) ? 1 : 0;
            break;
        case Barrier::kOr:
            block.barrier_result = count_true > 0 ? 1 : 0;
            break;
        default:
            block.barrier_result = count_true;
    }
    for (unsigned w = 0; w < block.num_warps; ++w) {
        block.warps[w].runnable = block.warps[w].at_barrier;
        block.warps[w].at_barrier = 0;
    }
    ++epoch;
}

bool all_exited() {
    return std::all_of(block.warps, block.warps + block.num_warps,
                       [](const Warp& warp) { return warp.live() == 0; });
}

void run_block(const KernelLaunch& launch) {
    ++epoch;
    block_started();
    prepare_lanes(launch);
    prepare_shared_memory(launch.dynamic_shared_bytes);
    const std::vector<unsigned> warp_order = running_order(block.num_warps);
    while (!all_exited()) {
        for (const unsigned w : warp_order) {
            while (block.warps[w].runnable != 0 && !block.aborted) {
                switch_to_lane(block.scheduler,
                               block.lanes[w * kWarpLanes + pick_bit(block.warps[w].runnable)]);
            }
            if (block.aborted) return;
        }
        if (all_exited()) break;
        if (!all_wait_at_one_barrier()) {
            report_divergence();
            return;
        }
        release_barrier();
    }
    check_shared_memory_limits();
}

}  // namespace

void set_lane_order(LaneOrder kind, std::uint64_t seed) {
    order() = {kind, seed};
}

std::uint64_t next_random() {
    std::uint64_t& state = order().state;  // splitmix64
    state += 0x9E3779B97F4A7C15U;
    std::uint64_t mixed = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94D049BB133111EBU;
    return mixed ^ (mixed >> 31);
}

unsigned pick_bit(std::uint32_t mask) {
    switch (order().kind) {
        case LaneOrder::kForward:
            return static_cast<unsigned>(__builtin_ctz(mask));
        case LaneOrder::kReverse:
            return 31U - static_cast<unsigned>(__builtin_clz(mask));
        default: {
            const unsigned shift = static_cast<unsigned>(next_random() % kWarpLanes);
            const std::uint32_t rotated = (mask >> shift) | (mask << ((kWarpLanes - shift) % kWarpLanes));
            return (static_cast<unsigned>(__builtin_ctz(rotated)) + shift) % kWarpLanes;
        }
    }
}

void suspend() {
    Lane& lane = this_lane();
    lane.in_kernel_code = in_kernel_code;
    go_on(lane, false);
}

void enter_kernel_code() {
    in_kernel_code = true;
}
void leave_kernel_code() {
    in_kernel_code = false;
}

int block_barrier(Barrier kind, int predicate, Site site) {
    const OutsideKernel scope;
    Lane& lane = this_lane();
    Warp& warp = this_warp();
    lane.barrier_kind = kind;
    lane.barrier_site = site;
    lane.predicate = predicate;
    warp.runnable &= ~lane.bit();
    warp.at_barrier |= lane.bit();
    suspend();
    return block.barrier_result;
}

void run_kernel(const KernelLaunch& launch) {
    ++count.kernels;
    block.launch = &launch;
    block.aborted = false;
    grid.grid_extent = launch.grid_extent;
    grid.block_extent = launch.block_extent;
    forget_shared_layout();
    const unsigned num_blocks = launch.grid_extent.x * launch.grid_extent.y * launch.grid_extent.z;
    for (const unsigned index : running_order(num_blocks)) {
        const dim3& extent = launch.grid_extent;
        grid.block = {index % extent.x, index / extent.x % extent.y, index / (extent.x * extent.y)};
        run_block(launch);
        count.cuda_threads += block.num_lanes;
        if (block.aborted) break;
    }
    if (block.aborted) forget_stack_frames(block.num_lanes);
    current = nullptr;
    block.launch = nullptr;
}

void abort_kernel(cudaError_t error) {
    sticky_error = error;
    block.aborted = true;
    in_kernel_code = false;
    switch_fiber(this_lane().fiber, block.scheduler, true);
    std::abort();  // nobody switches back to an aborted kernel
}

}  // namespace emu
