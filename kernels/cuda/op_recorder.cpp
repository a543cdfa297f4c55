#include "kernels/cuda/op_recorder.h"

#include <algorithm>
#include <utility>

#include "kernels/cuda/cuda_error.h"

namespace glmchat::kernels::cuda {

OpRecorder::~OpRecorder() {
    for (const Graph& graph : graphs_) cudaGraphExecDestroy(graph.executable);
}

void OpRecorder::add(const char* what, std::initializer_list<std::uint64_t> signature, Launch launch) {
    ops_.push_back({what, std::move(launch)});
    signature_.push_back(signature.size());  // keeps neighbouring ops apart
    signature_.insert(signature_.end(), signature.begin(), signature.end());
}

void OpRecorder::flush(bool as_graph) {
    if (ops_.empty()) return;
    const auto clear = [this] {
        ops_.clear();
        signature_.clear();
    };
    try {
        if (as_graph) {
            cudaGraphExec_t executable = find_graph();
            if (executable == nullptr) executable = capture_graph();
            check(cudaGraphLaunch(executable, stream_), "starting a forward pass");
        } else {
            launch_all();
        }
    } catch (...) {
        clear();
        throw;
    }
    clear();
}

void OpRecorder::launch_all() {
    for (const Op& op : ops_) check(op.launch(stream_), op.what);
}

cudaGraphExec_t OpRecorder::find_graph() {
    const auto found = std::find_if(graphs_.begin(), graphs_.end(),
                                    [&](const Graph& graph) { return graph.signature == signature_; });
    if (found == graphs_.end()) return nullptr;
    graphs_.splice(graphs_.begin(), graphs_, found);
    return found->executable;
}

cudaGraphExec_t OpRecorder::capture_graph() {
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "beginning a capture");
    cudaGraph_t graph = nullptr;
    try {
        launch_all();
    } catch (...) {
        cudaStreamEndCapture(stream_, &graph);
        if (graph != nullptr) cudaGraphDestroy(graph);
        throw;
    }
    check(cudaStreamEndCapture(stream_, &graph), "ending a capture");
    cudaGraphExec_t executable = nullptr;
    const cudaError_t result = cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphDestroy(graph);
    check(result, "making a graph");
    if (graphs_.size() == kMaxGraphs) {
        cudaGraphExecDestroy(graphs_.back().executable);
        graphs_.pop_back();
    }
    graphs_.push_front({signature_, executable});
    return executable;
}

}  // namespace glmchat::kernels::cuda
