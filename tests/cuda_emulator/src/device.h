#pragma once

#include <map>

#include "access.h"

/// The emulated device and its memory: one range of addresses, of which no piece is given out twice. Host
/// code cannot touch it; it is opened while stream operations run.
namespace emu {

struct Device {
    int major = 8;
    int minor = 0;
    std::size_t memory_bytes = std::size_t{8} << 30;
};
Device& device();

inline constexpr std::size_t kArenaBytes = std::size_t{64} << 30;
inline constexpr std::size_t kCellGranule = 2;  ///< bytes of device memory per Cell

struct DeviceArena {
    char* base = nullptr;
    ByteState* states = nullptr;  ///< check build only
    Cell* cells = nullptr;        ///< check build only

    bool holds(const void* address) const {
        return static_cast<std::size_t>(static_cast<const char*>(address) - base) < kArenaBytes;
    }
    std::size_t offset(const void* address) const {
        return static_cast<std::size_t>(static_cast<const char*>(address) - base);
    }
};
/// Mapped at the first use.
extern DeviceArena arena;
void map_arena();

/// A device buffer, live or freed.
struct Buffer {
    char* address = nullptr;
    std::size_t bytes = 0;
    bool live = false;
};
/// null if the device has no room
void* allocate_buffer(std::size_t bytes);
/// false if `address` is not the start of a live buffer
bool free_buffer(void* address);
/// The live buffer that holds all the bytes, or null.
const Buffer* buffer_of(const void* address, std::size_t bytes);
std::vector<Buffer> live_buffers();
/// "3 bytes past the end of a device buffer of 64 bytes", "host memory", … for reports.
std::string describe_address(const void* address, std::size_t bytes);

/// While one lives, device memory can be touched by the emulator.
class OpenArena {
  public:
    OpenArena();
    ~OpenArena();
    OpenArena(const OpenArena&) = delete;
    OpenArena& operator=(const OpenArena&) = delete;
};

}  // namespace emu
