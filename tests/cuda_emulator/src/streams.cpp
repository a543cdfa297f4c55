#include "streams.h"

#include <algorithm>
#include <map>

#include "device.h"

namespace emu {
namespace {

std::map<unsigned, std::unique_ptr<CUstream_st>> streams;  // by id; 0 is the default stream
unsigned next_stream_id = 0;
Clock host_clock;
std::vector<std::shared_ptr<Capture>> captures;

/// What ran: sorted by first_epoch.
struct Record {
    std::uint32_t first_epoch = 0;
    unsigned stream = 0;
    std::uint32_t number = 0;
    std::size_t node = 0;
    std::shared_ptr<const Clock> clock;
    std::shared_ptr<const Nodes> nodes;
};
std::vector<Record> records;

const Record* record_of(std::uint32_t at) {
    const auto after =
        std::upper_bound(records.begin(), records.end(), at,
                         [](std::uint32_t value, const Record& r) { return value < r.first_epoch; });
    return after == records.begin() ? nullptr : &*std::prev(after);
}

bool before(const Record& earlier, const Record& later) {
    if (earlier.stream == later.stream && earlier.number == later.number) {
        return earlier.node == later.node || (*later.nodes)[later.node].ancestors[earlier.node];
    }
    return later.clock->includes(earlier.stream, earlier.number);
}

bool is_over(unsigned stream, std::uint32_t number) {
    const auto found = streams.find(stream);
    return found == streams.end() || found->second->executed >= number;
}

bool is_ready(const CUstream_st& stream) {
    if (stream.queue.empty()) return false;
    const auto& waits = stream.queue.front().waits;
    return std::all_of(waits.begin(), waits.end(),
                       [](const auto& wait) { return is_over(wait.first, wait.second); });
}

/// A random node among those whose dependencies are done.
std::size_t next_node(const Nodes& nodes, const std::vector<bool>& done) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const auto& needed = nodes[i].dependencies;
        if (!done[i] && std::all_of(needed.begin(), needed.end(), [&](std::size_t d) { return done[d]; })) {
            ready.push_back(i);
        }
    }
    return ready[next_random() % ready.size()];
}

void run_operation(CUstream_st& stream) {
    const CUstream_st::Queued queued = std::move(stream.queue.front());
    stream.queue.pop_front();
    std::vector<bool> done(queued.nodes->size());
    for (std::size_t i = 0; i < done.size() && sticky_error == cudaSuccess; ++i) {
        const std::size_t node = done.size() == 1 ? 0 : next_node(*queued.nodes, done);
        done[node] = true;
        operation_started();
        records.push_back({epoch, stream.id, queued.number, node, queued.clock, queued.nodes});
        if ((*queued.nodes)[node].operation.run) (*queued.nodes)[node].operation.run();
    }
    stream.executed = queued.number;
}

/// One ready operation of a random stream. @return false if none is ready
bool run_any() {
    std::vector<CUstream_st*> ready;
    for (auto& [id, stream] : streams) {
        if (is_ready(*stream)) ready.push_back(stream.get());
    }
    if (ready.empty() || sticky_error != cudaSuccess) return false;
    const OpenArena open;
    run_operation(*ready[next_random() % ready.size()]);
    return true;
}

template <typename Done>
void run_until(Done done) {
    if (done()) return;
    const OpenArena open;
    while (!done() && run_any()) {
    }
    if (sticky_error != cudaSuccess) drop_all_operations();
}

void push(CUstream_st& stream, std::shared_ptr<const Nodes> nodes) {
    stream.clock.join(host_clock);
    CUstream_st::Queued queued;
    queued.number = ++stream.enqueued;
    queued.clock = std::make_shared<const Clock>(stream.clock);
    queued.waits = std::move(stream.pending_waits);
    queued.nodes = std::move(nodes);
    stream.pending_waits.clear();
    stream.clock.advance(stream.id, queued.number);
    stream.queue.push_back(std::move(queued));
}

/// The legacy default stream and streams created as blocking wait for each other.
void join_default_stream(CUstream_st& stream) {
    for (auto& [id, other] : streams) {
        const bool related = stream.id == 0 ? other->blocking && id != 0 : id == 0 && stream.blocking;
        if (!related || other->enqueued == 0) continue;
        stream.clock.join(other->clock);
        stream.pending_waits.emplace_back(id, other->enqueued);
    }
}

std::shared_ptr<const Nodes> single(Operation operation) {
    auto nodes = std::make_shared<Nodes>();
    nodes->push_back({std::move(operation), {}, {false}});
    return nodes;
}

void add_node(CUstream_st& stream, Operation operation) {
    Nodes& nodes = stream.capture->graph->nodes;
    Node node{std::move(operation), stream.frontier, std::vector<bool>(nodes.size() + 1)};
    for (const std::size_t dependency : stream.frontier) {
        node.ancestors[dependency] = true;
        const std::vector<bool>& theirs = nodes[dependency].ancestors;
        for (std::size_t i = 0; i < theirs.size(); ++i) node.ancestors[i] = node.ancestors[i] || theirs[i];
    }
    stream.frontier = {nodes.size()};
    nodes.push_back(std::move(node));
    for (Node& each : nodes) each.ancestors.resize(nodes.size());
}

bool frontier_covers(const CUstream_st& stream) {
    const Nodes& nodes = stream.capture->graph->nodes;
    std::vector<bool> covered(nodes.size());
    for (const std::size_t node : stream.frontier) {
        covered[node] = true;
        for (std::size_t i = 0; i < nodes.size(); ++i) covered[i] = covered[i] || nodes[node].ancestors[i];
    }
    return std::find(covered.begin(), covered.end(), false) == covered.end();
}

void leave_capture(const std::shared_ptr<Capture>& capture) {
    for (auto& [id, stream] : streams) {
        if (stream->capture != capture) continue;
        stream->capture.reset();
        stream->frontier.clear();
    }
    captures.erase(std::remove(captures.begin(), captures.end(), capture), captures.end());
}

cudaError_t wait_captured(CUstream_st& stream, const EventState& event) {
    const std::shared_ptr<Capture> capture = event.capture.lock();
    if (capture == nullptr) return cudaErrorCapturedEvent;
    if (stream.capture != nullptr && stream.capture != capture) {
        stream.capture->invalidated = true;
        capture->invalidated = true;
        return cudaErrorStreamCaptureMerge;
    }
    stream.capture = capture;
    for (const std::size_t node : event.nodes) {
        if (std::find(stream.frontier.begin(), stream.frontier.end(), node) == stream.frontier.end()) {
            stream.frontier.push_back(node);
        }
    }
    return cudaSuccess;
}

}  // namespace

void Clock::join(const Clock& other) {
    if (numbers_.size() < other.numbers_.size()) numbers_.resize(other.numbers_.size());
    for (std::size_t i = 0; i < other.numbers_.size(); ++i)
        numbers_[i] = std::max(numbers_[i], other.numbers_[i]);
}

void Clock::advance(unsigned stream, std::uint32_t number) {
    if (numbers_.size() <= stream) numbers_.resize(stream + 1);
    numbers_[stream] = std::max(numbers_[stream], number);
}

CUstream_st* create_stream(bool blocking, int priority) {
    default_stream();
    auto stream = std::make_unique<CUstream_st>();
    stream->id = next_stream_id++;
    stream->blocking = blocking;
    stream->priority = priority;
    return (streams[stream->id] = std::move(stream)).get();
}

void destroy_stream(CUstream_st* stream) {
    finish_stream(*stream);
    streams.erase(stream->id);
}

CUstream_st* default_stream() {
    if (streams.empty() && next_stream_id == 0) {
        auto stream = std::make_unique<CUstream_st>();
        stream->id = next_stream_id++;
        streams[0] = std::move(stream);
    }
    return streams[0].get();
}

CUstream_st* find_stream(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread)
        return default_stream();
    for (auto& [id, known] : streams) {
        if (known.get() == stream) return stream;
    }
    return nullptr;
}

cudaError_t enqueue(CUstream_st& stream, Operation operation) {
    if (stream.capture != nullptr) {
        if (stream.capture->invalidated) return cudaErrorStreamCaptureInvalidated;
        add_node(stream, std::move(operation));
        return cudaSuccess;
    }
    join_default_stream(stream);
    push(stream, single(std::move(operation)));
    return cudaSuccess;
}

cudaError_t launch_graph(CUstream_st& stream, std::shared_ptr<const Nodes> nodes) {
    if (stream.capture != nullptr) return cudaErrorStreamCaptureUnsupported;
    if (nodes->empty()) return cudaSuccess;
    join_default_stream(stream);
    push(stream, std::move(nodes));
    return cudaSuccess;
}

cudaError_t record_event(CUstream_st& stream, const std::shared_ptr<EventState>& event) {
    event->recorded = true;
    event->captured = stream.capture != nullptr;
    if (event->captured) {
        if (stream.capture->invalidated) return cudaErrorStreamCaptureInvalidated;
        event->capture = stream.capture;
        event->nodes = stream.frontier;
        return cudaSuccess;
    }
    push(stream, single({[event] { event->reached = std::chrono::steady_clock::now(); }, "cudaEventRecord",
                         nullptr}));
    event->stream = stream.id;
    event->number = stream.enqueued;
    event->clock = stream.clock;
    return cudaSuccess;
}

cudaError_t wait_event(CUstream_st& stream, const EventState& event) {
    if (!event.recorded) return cudaSuccess;  // as documented: an event never recorded is complete
    if (event.captured) return wait_captured(stream, event);
    if (stream.capture != nullptr) {
        stream.capture->invalidated = true;
        return cudaErrorStreamCaptureIsolation;
    }
    stream.clock.join(event.clock);
    stream.pending_waits.emplace_back(event.stream, event.number);
    push(stream, single({nullptr, "cudaStreamWaitEvent", nullptr}));
    return cudaSuccess;
}

cudaError_t begin_capture(CUstream_st& stream) {
    if (stream.capture != nullptr) return cudaErrorIllegalState;
    auto capture = std::make_shared<Capture>();
    capture->graph = new CUgraph_st;
    capture->origin = &stream;
    stream.capture = capture;
    stream.frontier.clear();
    captures.push_back(capture);
    return cudaSuccess;
}

cudaError_t end_capture(CUstream_st& stream, CUgraph_st** graph) {
    const std::shared_ptr<Capture> capture = stream.capture;
    if (capture == nullptr) return cudaErrorIllegalState;
    *graph = nullptr;
    cudaError_t result = cudaSuccess;
    if (capture->origin != &stream) {
        capture->invalidated = true;
        return cudaErrorStreamCaptureUnmatched;
    }
    if (capture->invalidated)
        result = cudaErrorStreamCaptureInvalidated;
    else if (!frontier_covers(stream))
        result = cudaErrorStreamCaptureUnjoined;
    if (result == cudaSuccess)
        *graph = capture->graph;
    else
        delete capture->graph;
    leave_capture(capture);
    return result;
}

bool capturing() {
    return !captures.empty();
}

void invalidate_captures() {
    for (const auto& capture : captures) capture->invalidated = true;
}

void finish_stream(CUstream_st& stream) {
    run_until([&] { return stream.queue.empty(); });
    host_clock.join(stream.clock);
}

bool is_finished(const EventState& event) {
    return !event.recorded || is_over(event.stream, event.number);
}

void finish_event(const EventState& event) {
    run_until([&] { return is_finished(event); });
    if (event.recorded) host_clock.join(event.clock);
}

void finish_all() {
    run_until([] {
        return std::all_of(streams.begin(), streams.end(),
                           [](const auto& entry) { return entry.second->queue.empty(); });
    });
    for (const auto& [id, stream] : streams) host_clock.join(stream->clock);
}

void run_one_operation() {
    run_any();
    if (sticky_error != cudaSuccess) drop_all_operations();
}

void drop_all_operations() {
    for (auto& [id, stream] : streams) {
        stream->queue.clear();
        stream->executed = stream->enqueued;
    }
}

bool operation_happened_before(std::uint32_t earlier_epoch) {
    static std::uint32_t cached_epoch = 0;
    static std::size_t cached_records = 0;
    static bool cached_answer = false;
    if (cached_epoch == earlier_epoch && cached_records == records.size()) return cached_answer;
    const Record* const earlier = record_of(earlier_epoch);
    cached_epoch = earlier_epoch;
    cached_records = records.size();
    cached_answer = earlier == nullptr || before(*earlier, records.back());
    return cached_answer;
}

std::string operation_of(std::uint32_t earlier_epoch) {
    const Record* const record = record_of(earlier_epoch);
    if (record == nullptr) return "an earlier operation";
    return (*record->nodes)[record->node].operation.what + " of stream " + std::to_string(record->stream);
}

std::vector<std::string> stream_leaks() {
    std::vector<std::string> leaks;
    for (const auto& [id, stream] : streams) {
        if (id != 0) leaks.push_back("stream " + std::to_string(id));
    }
    return leaks;
}

}  // namespace emu
