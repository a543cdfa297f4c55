#pragma once

#include "machine.h"

/// Judging memory accesses. In the check build every access of a kernel comes here; in the other builds only
/// those whose size the kernel states (ld16, st16, ldmatrix, asynchronous copies, atomics), and of them only
/// alignment and address space.
namespace emu {

struct AccessRule {
    bool write = false;
    bool atomic = false;
    unsigned needs_alignment = 1;
    bool shared_only = false;
    bool device_only = false;
    bool fills_later = false;  ///< an asynchronous copy's target: bytes become readable when it is awaited
    bool completes = false;    ///< that copy's arrival
};

/// An access by the current lane. Out of bounds and misalignment end the kernel.
void judge_access(const void* address, std::size_t bytes, AccessRule rule, Place place);

enum class Purpose { kRead, kMove, kWrite };  // a move may carry uninitialised bytes

/// A copy, fill or library call on device memory, as a stream operation: bounds, initialisation and races
/// with other streams.
/// @return false if bytes are out of bounds: do not touch them
bool judge_operation(const void* address, std::size_t bytes, Purpose purpose, const char* what);

/// State of every byte that kernels can reach.
enum class ByteState : std::uint8_t { kNone, kUninitialised, kValid, kPending };

/// Last accesses of a piece of memory, see access.cpp.
struct Mark {
    std::uint32_t epoch;
    std::uint16_t who;
    std::uint16_t syncs;
};
struct Cell {
    Mark write;
    Mark read;
};

/// Tell where the current operation and block begin in epochs.
void operation_started();
void block_started();

}  // namespace emu
