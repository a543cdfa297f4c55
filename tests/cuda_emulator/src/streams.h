#pragma once

#include <chrono>
#include <deque>
#include <memory>

#include "machine.h"

/// Streams, events and graphs. An operation is enqueued and runs no earlier than a call that waits; then
/// streams advance in random order as far as events allow. Who happened before whom is kept in vector clocks,
/// so that a missing event is found whatever order was drawn.
namespace emu {

/// Per stream number: the last operation known to be over before something happens.
class Clock {
  public:
    void join(const Clock& other);
    void advance(unsigned stream, std::uint32_t number);
    bool includes(unsigned stream, std::uint32_t number) const {
        return stream < numbers_.size() && number <= numbers_[stream];
    }

  private:
    std::vector<std::uint32_t> numbers_;
};

struct Operation {
    std::function<void()> run;       ///< empty for a marker
    std::string what;                ///< for reports: "kernel at file:line", "cudaMemcpyAsync"
    const void* identity = nullptr;  ///< kernel function; an update may change arguments, not this
};

struct Node {
    Operation operation;
    std::vector<std::size_t> dependencies;  ///< lower node numbers
    std::vector<bool> ancestors;            ///< dependencies, transitively
};
using Nodes = std::vector<Node>;

struct Capture;

struct EventState {
    bool recorded = false;
    unsigned stream = 0;
    std::uint32_t number = 0;
    Clock clock;
    std::weak_ptr<Capture> capture;  ///< set when recorded in a capturing stream
    bool captured = false;
    std::vector<std::size_t> nodes;  ///< what a captured event stands for
    bool timed = true;
    std::chrono::steady_clock::time_point reached;
};

}  // namespace emu

// The runtime's opaque types.
struct CUstream_st {
    struct Queued {
        std::uint32_t number = 0;
        std::shared_ptr<const emu::Clock> clock;  ///< of what is over before this starts
        std::vector<std::pair<unsigned, std::uint32_t>> waits;
        std::shared_ptr<const emu::Nodes> nodes;
    };
    unsigned id = 0;
    bool blocking = true;  ///< waits for the legacy default stream
    int priority = 0;
    std::uint32_t enqueued = 0;
    std::uint32_t executed = 0;
    emu::Clock clock;
    std::deque<Queued> queue;
    std::vector<std::pair<unsigned, std::uint32_t>> pending_waits;
    std::shared_ptr<emu::Capture> capture;
    std::vector<std::size_t> frontier;  ///< nodes that the next captured operation follows
};
struct CUevent_st {
    std::shared_ptr<emu::EventState> state = std::make_shared<emu::EventState>();
};
struct CUgraph_st {
    emu::Nodes nodes;
};
struct CUgraphExec_st {
    std::shared_ptr<const emu::Nodes> nodes;
};

namespace emu {

struct Capture {
    CUgraph_st* graph = nullptr;
    CUstream_st* origin = nullptr;
    bool invalidated = false;
};

CUstream_st* create_stream(bool blocking, int priority);
void destroy_stream(CUstream_st* stream);
/// Null, and the two special values, are the default stream. A stream that does not exist gives null.
CUstream_st* find_stream(cudaStream_t stream);
CUstream_st* default_stream();

/// Appends to the queue, or to the graph that the stream captures.
cudaError_t enqueue(CUstream_st& stream, Operation operation);
cudaError_t record_event(CUstream_st& stream, const std::shared_ptr<EventState>& event);
cudaError_t wait_event(CUstream_st& stream, const EventState& event);
cudaError_t launch_graph(CUstream_st& stream, std::shared_ptr<const Nodes> nodes);

cudaError_t begin_capture(CUstream_st& stream);
cudaError_t end_capture(CUstream_st& stream, CUgraph_st** graph);
/// Some stream captures.
bool capturing();
/// After a call that a capture does not survive.
void invalidate_captures();

void finish_stream(CUstream_st& stream);
void finish_event(const EventState& event);
void finish_all();
bool is_finished(const EventState& event);
/// Runs one operation of any stream, so that a host which polls gets on.
void run_one_operation();
void drop_all_operations();

/// Whether the operation of that epoch is over, by clocks and graph edges, before the one that runs now.
bool operation_happened_before(std::uint32_t earlier_epoch);
std::string operation_of(std::uint32_t earlier_epoch);

std::vector<std::string> stream_leaks();

}  // namespace emu
