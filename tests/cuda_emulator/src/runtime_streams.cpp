#include <cstring>
#include <set>

#include "api.h"
#include "device.h"
#include "shared_memory.h"
#include "streams.h"

namespace emu {
namespace {

std::set<CUevent_st*> events;
std::set<CUgraph_st*> graphs;
std::set<CUgraphExec_st*> executables;

constexpr int kDriverVersion = 13000;

/// Runs body(stream), or reports that there is no such stream.
template <typename Body>
cudaError_t with_stream(const char* name, cudaStream_t handle, Body body) {
    return call(name, [&] {
        CUstream_st* const stream = find_stream(handle);
        if (stream == nullptr)
            return misuse(name, "the stream does not exist", cudaErrorInvalidResourceHandle);
        return body(*stream);
    });
}

/// Runs body(event state), or reports that there is no such event.
template <typename Body>
cudaError_t with_event(const char* name, cudaEvent_t event, Body body) {
    return call(name, [&] {
        if (events.count(event) == 0)
            return misuse(name, "the event does not exist", cudaErrorInvalidResourceHandle);
        return body(event->state);
    });
}

cudaError_t make_stream(const char* name, cudaStream_t* stream, unsigned flags, int priority) {
    return call(name, [&] {
        *stream = create_stream((flags & cudaStreamNonBlocking) == 0, priority);
        return cudaSuccess;
    });
}

/// A wrong step in a capture is the caller's mistake; the plain outcome is not.
cudaError_t capture_result(const char* name, cudaError_t result) {
    switch (result) {
        case cudaErrorStreamCaptureUnjoined:
            return misuse(name, "a stream that joined the capture was not joined back into its origin",
                          result);
        case cudaErrorStreamCaptureUnmatched:
            return misuse(name, "the capture began in another stream", result);
        case cudaErrorStreamCaptureMerge:
            return misuse(name, "the event belongs to another capture", result);
        case cudaErrorStreamCaptureIsolation:
            return misuse(name, "a captured stream waits for an event outside the capture", result);
        case cudaErrorCapturedEvent:
            return misuse(name, "the event was recorded in a capture that is over", result);
        case cudaErrorIllegalState:
            return misuse(name, "the stream is already, or not, capturing", result);
        default:
            return result;
    }
}

bool same_shape(const Nodes& a, const Nodes& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const Operation& mine = a[i].operation;
        const Operation& other = b[i].operation;
        if (mine.identity != other.identity || a[i].dependencies != b[i].dependencies) return false;
        if (mine.identity == nullptr && mine.what != other.what) return false;
    }
    return true;
}

int attribute_value(cudaDeviceAttr attribute, bool& known) {
    known = true;
    switch (attribute) {
        case cudaDevAttrComputeCapabilityMajor:
            return device().major;
        case cudaDevAttrComputeCapabilityMinor:
            return device().minor;
        case cudaDevAttrMultiProcessorCount:
            return 16;
        case cudaDevAttrWarpSize:
            return static_cast<int>(kWarpLanes);
        case cudaDevAttrMaxThreadsPerBlock:
            return static_cast<int>(kMaxFibers);
        case cudaDevAttrMaxThreadsPerMultiProcessor:
            return device().major * 10 + device().minor == 75 ? 1024 : 1536;
        case cudaDevAttrMaxSharedMemoryPerBlock:
            return static_cast<int>(kDefaultSharedBytes);
        case cudaDevAttrMaxSharedMemoryPerBlockOptin:
            return static_cast<int>(max_opt_in_shared());
        case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
            return static_cast<int>(max_opt_in_shared()) + 1024;
        case cudaDevAttrL2CacheSize:
            return 4 << 20;
        case cudaDevAttrMaxRegistersPerBlock:
            return 65536;
        case cudaDevAttrMaxGridDimX:
            return 0x7FFFFFFF;
        case cudaDevAttrMaxGridDimY:
        case cudaDevAttrMaxGridDimZ:
            return 65535;
        case cudaDevAttrIntegrated:
        case cudaDevAttrCooperativeLaunch:
        case cudaDevAttrMemoryPoolsSupported:
            return 0;
        case cudaDevAttrUnifiedAddressing:
            return 1;
        default:
            known = false;
            return 0;
    }
}

void fill_properties(cudaDeviceProp& properties) {
    properties = {};
    std::strcpy(properties.name, "glmchat emulator");
    properties.totalGlobalMem = device().memory_bytes;
    properties.sharedMemPerBlock = kDefaultSharedBytes;
    properties.sharedMemPerBlockOptin = max_opt_in_shared();
    properties.sharedMemPerMultiprocessor = max_opt_in_shared() + 1024;
    properties.regsPerBlock = 65536;
    properties.warpSize = static_cast<int>(kWarpLanes);
    properties.maxThreadsPerBlock = static_cast<int>(kMaxFibers);
    properties.maxThreadsDim[0] = properties.maxThreadsDim[1] = static_cast<int>(kMaxFibers);
    properties.maxThreadsDim[2] = 64;
    properties.maxGridSize[0] = 0x7FFFFFFF;
    properties.maxGridSize[1] = properties.maxGridSize[2] = 65535;
    properties.major = device().major;
    properties.minor = device().minor;
    properties.multiProcessorCount = 16;
    properties.l2CacheSize = 4 << 20;
    properties.unifiedAddressing = 1;
}

}  // namespace

std::vector<std::string> graph_leaks() {
    std::vector<std::string> leaks;
    for (const CUevent_st* event : events)
        leaks.push_back(format("event %p", static_cast<const void*>(event)));
    for (const CUgraph_st* graph : graphs)
        leaks.push_back(format("graph %p", static_cast<const void*>(graph)));
    for (const CUgraphExec_st* each : executables) {
        leaks.push_back(format("executable graph %p", static_cast<const void*>(each)));
    }
    return leaks;
}

}  // namespace emu

using namespace emu;

extern "C" {

// --- device ---

cudaError_t cudaGetDeviceCount(int* num_devices) {
    return call("cudaGetDeviceCount", [&] {
        *num_devices = 1;
        return cudaSuccess;
    });
}

cudaError_t cudaSetDevice(int ordinal) {
    return call("cudaSetDevice", [&] { return ordinal == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

cudaError_t cudaGetDevice(int* ordinal) {
    return call("cudaGetDevice", [&] {
        *ordinal = 0;
        return cudaSuccess;
    });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal) {
    return call("cudaGetDeviceProperties", [&] {
        if (ordinal != 0) return cudaErrorInvalidDevice;
        fill_properties(*properties);
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int ordinal) {
    return call("cudaDeviceGetAttribute", [&] {
        if (ordinal != 0) return cudaErrorInvalidDevice;
        bool known = false;
        *value = attribute_value(attribute, known);
        return known ? cudaSuccess : misuse("cudaDeviceGetAttribute", "attribute not emulated");
    });
}

cudaError_t cudaDriverGetVersion(int* version) {
    return call("cudaDriverGetVersion", [&] {
        *version = kDriverVersion;
        return cudaSuccess;
    });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
    return call("cudaRuntimeGetVersion", [&] {
        *version = CUDART_VERSION;
        return cudaSuccess;
    });
}

cudaError_t cudaDeviceSynchronize() {
    return call("cudaDeviceSynchronize", [] {
        const cudaError_t refused = refuse_in_capture("cudaDeviceSynchronize");
        if (refused != cudaSuccess) return refused;
        finish_all();
        return sticky_error;
    });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return call("cudaDeviceGetStreamPriorityRange", [&] {
        *least = 0;
        *greatest = -1;
        return cudaSuccess;
    });
}

// --- streams ---

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
    return make_stream("cudaStreamCreate", stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
    return make_stream("cudaStreamCreateWithFlags", stream, flags, 0);
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
    return make_stream("cudaStreamCreateWithPriority", stream, flags, priority);
}

cudaError_t cudaStreamDestroy(cudaStream_t handle) {
    return with_stream("cudaStreamDestroy", handle, [](CUstream_st& stream) {
        if (&stream == default_stream()) return misuse("cudaStreamDestroy", "the default stream");
        if (stream.capture != nullptr) {
            stream.capture->invalidated = true;
            return misuse("cudaStreamDestroy", "the stream is capturing", cudaErrorStreamCaptureUnsupported);
        }
        destroy_stream(&stream);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
    return with_stream("cudaStreamSynchronize", handle, [](CUstream_st& stream) {
        const cudaError_t refused = refuse_in_capture("cudaStreamSynchronize");
        if (refused != cudaSuccess) return refused;
        finish_stream(stream);
        return sticky_error;
    });
}

cudaError_t cudaStreamQuery(cudaStream_t handle) {
    return with_stream("cudaStreamQuery", handle, [](CUstream_st& stream) {
        const cudaError_t refused = refuse_in_capture("cudaStreamQuery");
        if (refused != cudaSuccess) return refused;
        run_one_operation();
        if (sticky_error != cudaSuccess) return sticky_error;
        if (!stream.queue.empty()) return cudaErrorNotReady;
        finish_stream(stream);
        return cudaSuccess;
    });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
    return with_stream("cudaStreamWaitEvent", handle, [event](CUstream_st& stream) {
        if (events.count(event) == 0) {
            return misuse("cudaStreamWaitEvent", "the event does not exist", cudaErrorInvalidResourceHandle);
        }
        return capture_result("cudaStreamWaitEvent", wait_event(stream, *event->state));
    });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
    return with_stream("cudaLaunchHostFunc", handle, [=](CUstream_st& stream) {
        if (function == nullptr) return misuse("cudaLaunchHostFunc", "no function");
        const auto run = [=] {
            const HostFunctionScope scope;
            function(data);
        };
        return enqueue(stream, {run, "cudaLaunchHostFunc", reinterpret_cast<const void*>(function)});
    });
}

// --- events ---

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
    return call("cudaEventCreateWithFlags", [&] {
        *event = new CUevent_st;
        (*event)->state->timed = (flags & cudaEventDisableTiming) == 0;
        events.insert(*event);
        return cudaSuccess;
    });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
    return with_event("cudaEventDestroy", event, [event](const auto&) {
        events.erase(event);
        delete event;
        return cudaSuccess;
    });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
    return with_event("cudaEventRecord", event, [handle](const std::shared_ptr<EventState>& state) {
        CUstream_st* const stream = find_stream(handle);
        if (stream == nullptr) {
            return misuse("cudaEventRecord", "the stream does not exist", cudaErrorInvalidResourceHandle);
        }
        if (stream == default_stream()) misuse("cudaEventRecord", "on the default stream");
        return record_event(*stream, state);
    });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
    return with_event("cudaEventSynchronize", event, [](const std::shared_ptr<EventState>& state) {
        const cudaError_t refused = refuse_in_capture("cudaEventSynchronize");
        if (refused != cudaSuccess) return refused;
        if (state->captured) return capture_result("cudaEventSynchronize", cudaErrorCapturedEvent);
        finish_event(*state);
        return sticky_error;
    });
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
    return with_event("cudaEventQuery", event, [](const std::shared_ptr<EventState>& state) {
        const cudaError_t refused = refuse_in_capture("cudaEventQuery");
        if (refused != cudaSuccess) return refused;
        if (state->captured) return capture_result("cudaEventQuery", cudaErrorCapturedEvent);
        run_one_operation();
        if (sticky_error != cudaSuccess) return sticky_error;
        if (!is_finished(*state)) return cudaErrorNotReady;
        finish_event(*state);
        return cudaSuccess;
    });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
    return with_event("cudaEventElapsedTime", begin, [=](const std::shared_ptr<EventState>& first) {
        if (events.count(end) == 0) return misuse("cudaEventElapsedTime", "the event does not exist");
        const EventState& second = *end->state;
        if (!first->timed || !second.timed || !first->recorded || !second.recorded) {
            return misuse("cudaEventElapsedTime", "an event without timing, or not recorded",
                          cudaErrorInvalidResourceHandle);
        }
        if (!is_finished(*first) || !is_finished(second)) return cudaErrorNotReady;
        *milliseconds = std::chrono::duration<float, std::milli>(second.reached - first->reached).count();
        return cudaSuccess;
    });
}

// --- graphs ---

cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode) {
    return with_stream("cudaStreamBeginCapture", handle, [](CUstream_st& stream) {
        if (&stream == default_stream()) {
            return misuse("cudaStreamBeginCapture", "the default stream cannot be captured",
                          cudaErrorStreamCaptureUnsupported);
        }
        return capture_result("cudaStreamBeginCapture", begin_capture(stream));
    });
}

cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
    return with_stream("cudaStreamEndCapture", handle, [graph](CUstream_st& stream) {
        const cudaError_t result = end_capture(stream, graph);
        if (result == cudaSuccess) graphs.insert(*graph);
        return capture_result("cudaStreamEndCapture", result);
    });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
    return with_stream("cudaStreamIsCapturing", handle, [status](const CUstream_st& stream) {
        *status = stream.capture == nullptr     ? cudaStreamCaptureStatusNone
                  : stream.capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                                : cudaStreamCaptureStatusActive;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
    return call("cudaGraphInstantiate", [&] {
        if (graphs.count(graph) == 0) return misuse("cudaGraphInstantiate", "the graph does not exist");
        *executable = new CUgraphExec_st{std::make_shared<const Nodes>(graph->nodes)};
        executables.insert(*executable);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
    return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
    return with_stream("cudaGraphLaunch", handle, [executable](CUstream_st& stream) {
        if (executables.count(executable) == 0)
            return misuse("cudaGraphLaunch", "the executable graph does not exist");
        if (&stream == default_stream()) misuse("cudaGraphLaunch", "on the default stream");
        return launch_graph(stream, executable->nodes);
    });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t executable, cudaStream_t) {
    return call("cudaGraphUpload", [&] {
        return executables.count(executable) != 0
                   ? cudaSuccess
                   : misuse("cudaGraphUpload", "the executable graph does not exist");
    });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
    return call("cudaGraphExecUpdate", [&] {
        if (executables.count(executable) == 0 || graphs.count(graph) == 0) {
            return misuse("cudaGraphExecUpdate", "a graph that does not exist");
        }
        *info = {};
        if (!same_shape(*executable->nodes, graph->nodes)) {
            info->result = cudaGraphExecUpdateErrorTopologyChanged;
            return cudaErrorGraphExecUpdateFailure;
        }
        executable->nodes = std::make_shared<const Nodes>(graph->nodes);
        return cudaSuccess;
    });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
    return call("cudaGraphExecDestroy", [&] {
        if (executables.erase(executable) == 0)
            return misuse("cudaGraphExecDestroy", "the executable graph does not exist");
        delete executable;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
    return call("cudaGraphDestroy", [&] {
        if (graphs.erase(graph) == 0) return misuse("cudaGraphDestroy", "the graph does not exist");
        delete graph;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* num_nodes) {
    return call("cudaGraphGetNodes", [&] {
        if (graphs.count(graph) == 0) return misuse("cudaGraphGetNodes", "the graph does not exist");
        if (nodes != nullptr) return misuse("cudaGraphGetNodes", "only the number of nodes is emulated");
        *num_nodes = graph->nodes.size();
        return cudaSuccess;
    });
}

}  // extern "C"
