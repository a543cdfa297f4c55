#pragma once

#include "access.h"

/// The block's shared memory: every array has red zones around it and starts each block filled with 0xFF.
namespace emu {

inline constexpr std::size_t kSharedArenaBytes = std::size_t{1} << 20;

struct SharedArena {
    char* base = nullptr;
    ByteState* states = nullptr;  ///< per byte; check build only
    Cell* cells = nullptr;        ///< per byte; check build only

    bool holds(const void* address) const {
        return static_cast<std::size_t>(static_cast<const char*>(address) - base) < kSharedArenaBytes;
    }
    std::size_t offset(const void* address) const {
        return static_cast<std::size_t>(static_cast<const char*>(address) - base);
    }
};
SharedArena& shared_arena();

/// Once per launch: arrays get their places anew.
void forget_shared_layout();
/// Once per block: nothing is initialised, no array is declared yet.
void prepare_shared_memory(std::size_t dynamic_bytes);
/// After a block: whether what it declared fits the device.
void check_shared_memory_limits();

/// Shared memory per block that `kernel` may have, after cudaFuncSetAttribute.
std::size_t shared_limit_of(const void* kernel);
void set_dynamic_shared(const void* kernel, std::size_t bytes);
std::size_t max_opt_in_shared();

inline constexpr std::size_t kDefaultSharedBytes = 48 * 1024;

}  // namespace emu
