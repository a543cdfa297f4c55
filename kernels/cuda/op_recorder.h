#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <list>
#include <vector>

#include <cuda_runtime.h>

namespace glmchat::kernels::cuda {

/// Collects the launches of a forward pass and runs them together: one by one, or as a CUDA graph. A decode
/// step of ChatGLM2-6B is about 250 launches of a few microseconds each, so the time to start them is a
/// large part of a step unless a graph starts them all.
///
/// A graph is kept with the signature of its launches: kernels and every argument by value. The same pass
/// over another token has the same signature, since all that differs lies in device memory, and replays the
/// graph; anything else is captured anew. Thread: one at a time.
class OpRecorder {
  public:
    using Launch = std::function<cudaError_t(cudaStream_t stream)>;

    explicit OpRecorder(cudaStream_t stream) : stream_(stream) {}
    ~OpRecorder();
    OpRecorder(const OpRecorder&) = delete;
    OpRecorder& operator=(const OpRecorder&) = delete;

    /// @param signature  what `launch` depends on, the op first
    /// @param what  for messages
    void add(const char* what, std::initializer_list<std::uint64_t> signature, Launch launch);
    bool empty() const { return ops_.empty(); }
    /// Puts everything added on the stream. @param as_graph  worth keeping as a graph
    /// Throws BackendError.
    void flush(bool as_graph);

  private:
    /// Batches of one to a few chats that decode together, and two steps of growth each.
    static constexpr std::size_t kMaxGraphs = 12;

    struct Op {
        const char* what;
        Launch launch;
    };
    struct Graph {
        std::vector<std::uint64_t> signature;
        cudaGraphExec_t executable = nullptr;
    };
    void launch_all();
    cudaGraphExec_t find_graph();
    cudaGraphExec_t capture_graph();

    cudaStream_t stream_;
    std::vector<Op> ops_;
    std::vector<std::uint64_t> signature_;
    std::list<Graph> graphs_;  ///< last used first
};

}  // namespace glmchat::kernels::cuda
