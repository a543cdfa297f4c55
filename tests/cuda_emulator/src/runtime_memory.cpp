#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "api.h"
#include "device.h"
#include "streams.h"

namespace emu {
namespace {

struct Pinned {
    std::size_t bytes = 0;
    bool registered = false;  ///< the caller's own memory
};
std::map<const char*, Pinned> pinned;
std::size_t countdown_to_failure = 0;
bool allocation_forbidden = false;

bool is_pinned(const void* address) {
    auto next = pinned.upper_bound(static_cast<const char*>(address));
    if (next == pinned.begin()) return false;
    const auto& [begin, memory] = *std::prev(next);
    return static_cast<const char*>(address) < begin + memory.bytes;
}

bool is_device(const void* address) {
    return arena.base != nullptr && arena.holds(address);
}

/// Whether the allocation that is asked for now has been chosen to fail.
bool fails_now() {
    return countdown_to_failure != 0 && --countdown_to_failure == 0;
}

cudaError_t before_allocation(const char* name) {
    const cudaError_t refused = refuse_in_capture(name);
    if (refused != cudaSuccess) return refused;
    if (allocation_forbidden) misuse(name, "allocation after loading");
    return fails_now() ? cudaErrorMemoryAllocation : cudaSuccess;
}

cudaError_t allocate(const char* name, void** address, std::size_t bytes) {
    return call(name, [&] {
        *address = nullptr;
        const cudaError_t refused = before_allocation(name);
        if (refused != cudaSuccess || bytes == 0) return refused;
        *address = allocate_buffer(bytes);
        if (*address == nullptr) return cudaErrorMemoryAllocation;
        ++count.device_allocations;
        return cudaSuccess;
    });
}

cudaError_t allocate_pinned(const char* name, void** address, std::size_t bytes) {
    return call(name, [&] {
        *address = nullptr;
        const cudaError_t refused = before_allocation(name);
        if (refused != cudaSuccess || bytes == 0) return refused;
        *address = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
        if (*address == nullptr) return cudaErrorMemoryAllocation;
        std::memset(*address, 0xFF, bytes);
        pinned[static_cast<char*>(*address)] = {bytes, false};
        ++count.pinned_allocations;
        return cudaSuccess;
    });
}

// --- copies ---

/// rows of `bytes` bytes, `*_pitch` apart.
struct Copy {
    char* destination;
    std::size_t destination_pitch;
    const char* source;
    std::size_t source_pitch;
    std::size_t bytes;
    std::size_t rows;
};

void copy_states(const char* destination, const char* source, std::size_t bytes) {
    if constexpr (kJudgesMemory) {
        std::memmove(arena.states + arena.offset(destination), arena.states + arena.offset(source), bytes);
    }
}

void copy_row(const char* name, char* destination, const char* source, std::size_t bytes) {
    const bool to_device = is_device(destination);
    const bool from_device = is_device(source);
    const Purpose reading =
        to_device ? Purpose::kMove : Purpose::kRead;  // a move may carry bytes that hold nothing
    if (from_device && !judge_operation(source, bytes, reading, name)) return;
    if (to_device && !judge_operation(destination, bytes, Purpose::kWrite, name)) return;
    if (to_device && from_device) copy_states(destination, source, bytes);
    std::memmove(destination, source, bytes);
}

void run_copy(const char* name, const Copy& copy) {
    for (std::size_t row = 0; row < copy.rows; ++row) {
        copy_row(name, copy.destination + row * copy.destination_pitch, copy.source + row * copy.source_pitch,
                 copy.bytes);
    }
}

std::string wrong_kind(const Copy& copy, cudaMemcpyKind kind) {
    const bool to_device = is_device(copy.destination);
    const bool from_device = is_device(copy.source);
    const bool says_to = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    const bool says_from = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    if (kind == cudaMemcpyDefault || (says_to == to_device && says_from == from_device)) return "";
    return format("the kind says %s to %s, the addresses are %s to %s", says_from ? "device" : "host",
                  says_to ? "device" : "host", from_device ? "device" : "host",
                  to_device ? "device" : "host");
}

/// A pageable source is read before the call returns; everything else when the stream gets there.
std::function<void()> deferred_copy(const char* name, Copy copy) {
    if (is_device(copy.source) || is_pinned(copy.source)) return [=] { run_copy(name, copy); };
    auto staged = std::make_shared<std::vector<char>>(copy.bytes * copy.rows);
    for (std::size_t row = 0; row < copy.rows; ++row) {
        std::memcpy(staged->data() + row * copy.bytes, copy.source + row * copy.source_pitch, copy.bytes);
    }
    copy.source = staged->data();
    copy.source_pitch = copy.bytes;
    return [=] {
        static_cast<void>(staged);  // kept alive until here
        run_copy(name, copy);
    };
}

cudaError_t enqueue_copy(const char* name, const Copy& copy, cudaMemcpyKind kind, CUstream_st& stream) {
    if (copy.bytes == 0 || copy.rows == 0) return cudaSuccess;
    const std::string wrong = wrong_kind(copy, kind);
    if (!wrong.empty()) return misuse(name, wrong, cudaErrorInvalidMemcpyDirection);
    const bool from_pageable = !is_device(copy.source) && !is_pinned(copy.source);
    const bool to_pageable = !is_device(copy.destination) && !is_pinned(copy.destination);
    if (stream.capture != nullptr && (from_pageable || to_pageable)) {
        stream.capture->invalidated = true;
        return misuse(name, "pageable host memory in a capture", cudaErrorStreamCaptureUnsupported);
    }
    return enqueue(stream, {deferred_copy(name, copy), name, nullptr});
}

cudaError_t copy_async(const char* name, const Copy& copy, cudaMemcpyKind kind, cudaStream_t handle) {
    return call(name, [&] {
        CUstream_st* const stream = find_stream(handle);
        if (stream == nullptr)
            return misuse(name, "the stream does not exist", cudaErrorInvalidResourceHandle);
        if (stream == default_stream()) misuse(name, "on the default stream");
        return enqueue_copy(name, copy, kind, *stream);
    });
}

/// Enqueues on the default stream and waits for it.
template <typename Enqueue>
cudaError_t and_wait(const char* name, Enqueue enqueue_it) {
    return call(name, [&] {
        const cudaError_t refused = refuse_in_capture(name);
        if (refused != cudaSuccess) return refused;
        const cudaError_t result = enqueue_it(*default_stream());
        if (result != cudaSuccess) return result;
        finish_stream(*default_stream());
        return sticky_error;
    });
}

cudaError_t enqueue_fill(const char* name, char* address, int value, std::size_t bytes, CUstream_st& stream) {
    if (bytes == 0) return cudaSuccess;
    if (!is_device(address)) return misuse(name, "not a device address");
    return enqueue(stream, {[=] {
                                if (judge_operation(address, bytes, Purpose::kWrite, name))
                                    std::memset(address, value, bytes);
                            },
                            name, nullptr});
}

cudaError_t fill_async(const char* name, void* address, int value, std::size_t bytes, cudaStream_t handle) {
    return call(name, [&] {
        CUstream_st* const stream = find_stream(handle);
        if (stream == nullptr)
            return misuse(name, "the stream does not exist", cudaErrorInvalidResourceHandle);
        if (stream == default_stream()) misuse(name, "on the default stream");
        return enqueue_fill(name, static_cast<char*>(address), value, bytes, *stream);
    });
}

Copy flat(void* destination, const void* source, std::size_t bytes) {
    return {static_cast<char*>(destination), bytes, static_cast<const char*>(source), bytes, bytes, 1};
}

}  // namespace

void fail_allocation(std::size_t n) {
    countdown_to_failure = n;
}

void forbid_allocation(bool forbidden) {
    allocation_forbidden = forbidden;
}

std::vector<std::string> memory_leaks() {
    std::vector<std::string> leaks;
    for (const auto& [address, memory] : pinned) {
        leaks.push_back(
            format("pinned host memory %p of %zu bytes", static_cast<const void*>(address), memory.bytes));
    }
    return leaks;
}

}  // namespace emu

using namespace emu;

extern "C" {

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
    return allocate("cudaMalloc", address, bytes);
}

cudaError_t cudaFree(void* address) {
    return call("cudaFree", [&] {
        const cudaError_t refused = refuse_in_capture("cudaFree");
        if (refused != cudaSuccess || address == nullptr) return refused;
        finish_all();  // as the runtime does
        if (sticky_error != cudaSuccess) return sticky_error;
        return free_buffer(address) ? cudaSuccess
                                    : misuse("cudaFree", "not the start of a live device buffer");
    });
}

cudaError_t cudaMallocHost(void** address, std::size_t bytes) {
    return allocate_pinned("cudaMallocHost", address, bytes);
}

cudaError_t cudaHostAlloc(void** address, std::size_t bytes, unsigned) {
    return allocate_pinned("cudaHostAlloc", address, bytes);
}

cudaError_t cudaFreeHost(void* address) {
    return call("cudaFreeHost", [&] {
        const cudaError_t refused = refuse_in_capture("cudaFreeHost");
        if (refused != cudaSuccess || address == nullptr) return refused;
        finish_all();
        const auto found = pinned.find(static_cast<char*>(address));
        if (found == pinned.end() || found->second.registered) {
            return misuse("cudaFreeHost", "not the start of pinned memory");
        }
        pinned.erase(found);
        std::free(address);
        return cudaSuccess;
    });
}

cudaError_t cudaHostRegister(void* address, std::size_t bytes, unsigned) {
    return call("cudaHostRegister", [&] {
        const cudaError_t refused = refuse_in_capture("cudaHostRegister");
        if (refused != cudaSuccess) return refused;
        if (address == nullptr || bytes == 0) return misuse("cudaHostRegister", "no memory");
        if (is_pinned(address)) {
            return misuse("cudaHostRegister", "already pinned", cudaErrorHostMemoryAlreadyRegistered);
        }
        if (fails_now()) return cudaErrorMemoryAllocation;
        pinned[static_cast<char*>(address)] = {bytes, true};
        return cudaSuccess;
    });
}

cudaError_t cudaHostUnregister(void* address) {
    return call("cudaHostUnregister", [&] {
        finish_all();
        const auto found = pinned.find(static_cast<char*>(address));
        if (found == pinned.end() || !found->second.registered) {
            return misuse("cudaHostUnregister", "not registered", cudaErrorHostMemoryNotRegistered);
        }
        pinned.erase(found);
        return cudaSuccess;
    });
}

cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
    return call("cudaMemGetInfo", [&] {
        *total = device().memory_bytes;
        *free_bytes = *total - std::min(*total, count.live_device_bytes);
        return cudaSuccess;
    });
}

cudaError_t cudaMemcpyAsync(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
    return copy_async("cudaMemcpyAsync", flat(destination, source, bytes), kind, stream);
}

cudaError_t cudaMemcpy2DAsync(void* destination, std::size_t destination_pitch, const void* source,
                              std::size_t source_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind kind, cudaStream_t stream) {
    if (width > destination_pitch || width > source_pitch) {
        return call("cudaMemcpy2DAsync", [] {
            return misuse("cudaMemcpy2DAsync", "wider than a pitch", cudaErrorInvalidPitchValue);
        });
    }
    const Copy copy{static_cast<char*>(destination),
                    destination_pitch,
                    static_cast<const char*>(source),
                    source_pitch,
                    width,
                    height};
    return copy_async("cudaMemcpy2DAsync", copy, kind, stream);
}

cudaError_t cudaMemcpy(void* destination, const void* source, std::size_t bytes, cudaMemcpyKind kind) {
    return and_wait("cudaMemcpy", [&](CUstream_st& stream) {
        return enqueue_copy("cudaMemcpy", flat(destination, source, bytes), kind, stream);
    });
}

cudaError_t cudaMemset(void* address, int value, std::size_t bytes) {
    return and_wait("cudaMemset", [&](CUstream_st& stream) {
        return enqueue_fill("cudaMemset", static_cast<char*>(address), value, bytes, stream);
    });
}

cudaError_t cudaMemsetAsync(void* address, int value, std::size_t bytes, cudaStream_t stream) {
    return fill_async("cudaMemsetAsync", address, value, bytes, stream);
}

// A __constant__ variable is an ordinary one here, so a copy to it is a copy to host memory.
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, std::size_t bytes,
                                    std::size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
    if (kind != cudaMemcpyHostToDevice) {
        return call("cudaMemcpyToSymbolAsync",
                    [] { return misuse("cudaMemcpyToSymbolAsync", "only from the host"); });
    }
    char* const target = static_cast<char*>(const_cast<void*>(symbol)) + offset;
    return copy_async("cudaMemcpyToSymbolAsync", flat(target, source, bytes), cudaMemcpyDefault, stream);
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* address) {
    return call("cudaPointerGetAttributes", [&] {
        *attributes = {};
        attributes->type = is_device(address)   ? cudaMemoryTypeDevice
                           : is_pinned(address) ? cudaMemoryTypeHost
                                                : cudaMemoryTypeUnregistered;
        if (is_device(address))
            attributes->devicePointer = const_cast<void*>(address);
        else
            attributes->hostPointer = const_cast<void*>(address);
        return cudaSuccess;
    });
}

}  // extern "C"
