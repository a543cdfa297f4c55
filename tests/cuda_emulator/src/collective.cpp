#include <cmath>
#include <cstring>

#include "access.h"
#include "machine.h"

/// Warp collectives: a lane leaves its request and waits; the last lane to arrive computes the answers of
/// all.
namespace emu {
namespace {

constexpr const char* kNames[] = {"__shfl_sync",   "__shfl_up_sync",    "__shfl_down_sync", "__shfl_xor_sync",
                                  "__ballot_sync", "__all_sync",        "__any_sync",       "__syncwarp",
                                  "mma_m16n8k16",  "mma_m16n8k16_bf16", "mma_m16n8k16_s8",  "mma_m16n8k32_s8",
                                  "ldmatrix_x4",   "ldmatrix_x4_trans"};

const char* name_of(Collective what) {
    return kNames[static_cast<int>(what)];
}

Lane& lane_of(const Lane& anyone, unsigned lane) {
    return block.lanes[anyone.warp() * kWarpLanes + lane];
}

template <typename Function>
void for_each_lane(std::uint32_t lanes, Function function) {
    for (; lanes != 0; lanes &= lanes - 1) function(static_cast<unsigned>(__builtin_ctz(lanes)));
}

bool matches(const Request& a, const Request& b) {
    return a.what == b.what && a.mask == b.mask && a.width == b.width && a.site.line == b.site.line &&
           (a.site.file == b.site.file || std::strcmp(a.site.file, b.site.file) == 0);
}

/// The lane that a shuffle of `lane` reads; -1 if it lies outside the width.
int source_lane(const Request& request, int lane) {
    const int first = lane / request.width * request.width;
    const int end = first + request.width;
    switch (request.what) {
        case Collective::kShuffle:
            return request.lane_argument >= 0 && request.lane_argument < request.width
                       ? first + request.lane_argument
                       : -1;
        case Collective::kShuffleUp:  // beyond the end a lane keeps its own value
            return lane - request.lane_argument >= first ? lane - request.lane_argument : lane;
        case Collective::kShuffleDown:
            return lane + request.lane_argument < end ? lane + request.lane_argument : lane;
        default: {
            const int source = lane ^ request.lane_argument;
            return source < end && source >= 0 ? source : -1;
        }
    }
}

void shuffle_lane(Lane& lane, std::uint32_t participants) {
    Request& request = *lane.request;
    const int source = source_lane(request, static_cast<int>(lane.lane()));
    if (source >= 0 && (participants >> source & 1U) != 0) {
        std::memcpy(request.out, lane_of(lane, static_cast<unsigned>(source)).request->in, 8);
        return;
    }
    std::memset(request.out, 0xFF, 8);
    ThreadState* const caller = current;
    current = &lane;
    if (source < 0) {
        report(Finding::kWarpSource,
               format("%s reads a lane outside the width %d (argument %d)", name_of(request.what),
                      request.width, request.lane_argument),
               {request.site});
    } else {
        report(Finding::kWarpSource,
               format("%s reads lane %d, which has ended, does not exist or is not in the mask",
                      name_of(request.what), source),
               {request.site});
    }
    current = caller;
}

void vote_all(const Lane& anyone, std::uint32_t participants) {
    const Collective what = lane_of(anyone, static_cast<unsigned>(__builtin_ctz(participants))).request->what;
    std::uint32_t result = what == Collective::kAll ? 1 : 0;
    for_each_lane(participants, [&](unsigned lane) {
        const std::uint32_t value = lane_of(anyone, lane).request->in[0];
        if (what == Collective::kBallot)
            result |= value << lane;
        else
            result = what == Collective::kAll ? result & value : result | value;
    });
    for_each_lane(participants, [&](unsigned lane) { lane_of(anyone, lane).request->out[0] = result; });
}

// --- mma: fragments to matrices, a plain product, and back. With g = lane / 4, t = lane % 4 as in
// kernels/cuda/device.h. ---

float value_of_f16(std::uint32_t bits) {
    return __half2float(__ushort_as_half(static_cast<unsigned short>(bits)));
}
float value_of_bf16(std::uint32_t bits) {
    return __builtin_bit_cast(float, bits << 16);
}

template <float (*kValue)(std::uint32_t)>
void mma_16bit(const Lane& anyone) {
    float a[16][16];
    float b[16][8];
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const std::uint32_t* in = lane_of(anyone, lane).request->in;
        const unsigned g = lane / 4;
        const unsigned t = lane % 4;
        for (unsigned i = 0; i < 8; ++i) {
            const std::uint32_t bits = in[i / 2] >> (16 * (i % 2)) & 0xFFFFU;
            a[g + 8 * (i / 2 % 2)][2 * t + i % 2 + (i >= 4 ? 8 : 0)] = kValue(bits);
        }
        for (unsigned i = 0; i < 4; ++i) {
            const std::uint32_t bits = in[4 + i / 2] >> (16 * (i % 2)) & 0xFFFFU;
            b[2 * t + i % 2 + (i >= 2 ? 8 : 0)][g] = kValue(bits);
        }
    }
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        Request& request = *lane_of(anyone, lane).request;
        for (unsigned i = 0; i < 4; ++i) {
            float sum = __builtin_bit_cast(float, request.in[6 + i]);
            for (unsigned k = 0; k < 16; ++k)
                sum += a[lane / 4 + 8 * (i / 2)][k] * b[k][lane % 4 * 2 + i % 2];
            request.out[i] = __builtin_bit_cast(std::uint32_t, sum);
        }
    }
}

void mma_s8(const Lane& anyone, unsigned num_k) {
    std::int8_t a[16][32];
    std::int8_t b[32][8];
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        const std::uint32_t* in = lane_of(anyone, lane).request->in;
        const unsigned g = lane / 4;
        const unsigned t = lane % 4;
        for (unsigned i = 0; i < num_k / 2; ++i) {
            a[g + 8 * (i / 4 % 2)][4 * t + i % 4 + i / 8 * 16] =
                static_cast<std::int8_t>(in[i / 4] >> (8 * (i % 4)));
        }
        for (unsigned i = 0; i < num_k / 4; ++i) {
            b[4 * t + i % 4 + i / 4 * 16][g] = static_cast<std::int8_t>(in[4 + i / 4] >> (8 * (i % 4)));
        }
    }
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
        Request& request = *lane_of(anyone, lane).request;
        for (unsigned i = 0; i < 4; ++i) {
            std::uint32_t sum = request.in[6 + i];
            for (unsigned k = 0; k < num_k; ++k) {
                sum += static_cast<std::uint32_t>(a[lane / 4 + 8 * (i / 2)][k] * b[k][lane % 4 * 2 + i % 2]);
            }
            request.out[i] = sum;
        }
    }
}

/// Row r of matrix m, as its address lane reads it. The read counts as that lane's.
void read_row(Lane& reader, std::uint16_t (&row)[8]) {
    ThreadState* const caller = current;
    current = &reader;
    const void* const address = reader.request->address;
    judge_access(address, 16, {.needs_alignment = 16, .shared_only = true}, {reader.request->site});
    std::memcpy(row, address, 16);
    current = caller;
}

void load_matrices(const Lane& anyone, bool transposed) {
    for (unsigned matrix = 0; matrix < 4; ++matrix) {
        std::uint16_t rows[8][8];
        for (unsigned r = 0; r < 8; ++r) read_row(lane_of(anyone, 8 * matrix + r), rows[r]);
        for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
            const unsigned r = lane / 4;
            const unsigned t = lane % 4;
            const std::uint32_t low = transposed ? rows[2 * t][r] : rows[r][2 * t];
            const std::uint32_t high = transposed ? rows[2 * t + 1][r] : rows[r][2 * t + 1];
            lane_of(anyone, lane).request->out[matrix] = low | high << 16;
        }
    }
}

bool needs_whole_warp(Collective what) {
    return what >= Collective::kMmaF16;
}

void execute(Warp& warp, const Lane& anyone, std::uint32_t participants) {
    const Request& request = *lane_of(anyone, static_cast<unsigned>(__builtin_ctz(participants))).request;
    if (needs_whole_warp(request.what) && participants != 0xFFFFFFFFU) {
        report(Finding::kDivergence, format("%s with lanes missing from the warp", name_of(request.what)),
               {request.site});
        abort_kernel(cudaErrorLaunchFailure);
    }
    switch (request.what) {
        case Collective::kShuffle:
        case Collective::kShuffleUp:
        case Collective::kShuffleDown:
        case Collective::kShuffleXor:
            for_each_lane(participants,
                          [&](unsigned lane) { shuffle_lane(lane_of(anyone, lane), participants); });
            break;
        case Collective::kSyncWarp:
            ++warp.syncs;
            break;
        case Collective::kMmaF16:
            mma_16bit<value_of_f16>(anyone);
            break;
        case Collective::kMmaBf16:
            mma_16bit<value_of_bf16>(anyone);
            break;
        case Collective::kMmaS8K16:
            mma_s8(anyone, 16);
            break;
        case Collective::kMmaS8K32:
            mma_s8(anyone, 32);
            break;
        case Collective::kLdmatrix:
        case Collective::kLdmatrixTrans:
            load_matrices(anyone, request.what == Collective::kLdmatrixTrans);
            break;
        default:
            vote_all(anyone, participants);
    }
}

/// Answers the collective of `anyone` if all lanes that it names and that still live have come.
void complete_if_ready(Warp& warp, const Lane& anyone) {
    const std::uint32_t participants = anyone.request->mask & warp.live();
    if ((warp.in_collective & participants) != participants) return;
    execute(warp, anyone, participants);
    warp.in_collective &= ~participants;
    warp.runnable |= participants;
}

void report_mismatch(const Request& mine, const Lane& other) {
    report(Finding::kDivergence,
           format("%s at %s meets %s of %s at %s: other operation, mask, width or line", name_of(mine.what),
                  describe(mine.site).c_str(), name_of(other.request->what), describe_thread(other).c_str(),
                  describe(other.request->site).c_str()),
           {mine.site});
    abort_kernel(cudaErrorLaunchFailure);
}

}  // namespace

void collective(Request& request) {
    const OutsideKernel scope;
    Lane& lane = this_lane();
    Warp& warp = this_warp();
    if ((request.mask & lane.bit()) == 0) {
        report(Finding::kDivergence, format("%s by a lane that is not in its mask", name_of(request.what)),
               {request.site});
        abort_kernel(cudaErrorLaunchFailure);
    }
    const std::uint32_t arrived = warp.in_collective & request.mask;
    if (arrived != 0) {
        const Lane& other = lane_of(lane, static_cast<unsigned>(__builtin_ctz(arrived)));
        if (!matches(request, *other.request)) report_mismatch(request, other);
    }
    lane.request = &request;
    warp.in_collective |= lane.bit();
    warp.runnable &= ~lane.bit();
    complete_if_ready(warp, lane);
    if ((warp.in_collective & lane.bit()) != 0) suspend();
}

void complete_collectives(Warp& warp) {
    for (std::uint32_t waiting = warp.in_collective; waiting != 0; waiting &= warp.in_collective) {
        const auto lane = static_cast<unsigned>(__builtin_ctz(waiting));
        const auto first = static_cast<unsigned>(&warp - block.warps) * kWarpLanes;
        const Lane& waiter = block.lanes[first + lane];
        waiting &= ~waiter.request->mask;
        complete_if_ready(warp, waiter);
    }
}

}  // namespace emu
