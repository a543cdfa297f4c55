#include "tests/cuda_emulator/selftest/selftest_support.h"
#include "tests/cuda_emulator/selftest/stream_kernels.h"

namespace selftest {
namespace {

using namespace glmchat::test;
using emu::Finding;

constexpr int kCount = 70;

/// x, y, z = 1, 2, 3; z is what the steps compute.
struct Arrays {
    DeviceArray<float> x{std::vector<float>(kCount, 1.0F)};
    DeviceArray<float> y{std::vector<float>(kCount, 2.0F)};
    DeviceArray<float> z{std::vector<float>(kCount, 3.0F)};
};

/// Two branches from one stream, joined again unless `joined` or `ordered` is false.
void fork_and_join(const Arrays& a, cudaStream_t main, cudaStream_t side, bool joined, bool ordered) {
    const Event forked;
    const Event done;
    multiply_add(a.x.get(), a.z.get(), 1.0F, kCount, main);
    cudaEventRecord(forked, main);
    cudaStreamWaitEvent(side, forked, 0);
    multiply_add(a.z.get(), a.y.get(), 2.0F, kCount, side);
    cudaEventRecord(done, side);
    if (!ordered) multiply_add(a.y.get(), a.z.get(), 1.0F, kCount, main);
    if (joined) cudaStreamWaitEvent(main, done, 0);
    multiply_add(a.y.get(), a.z.get(), 1.0F, kCount, main);
}

cudaGraph_t capture(const Arrays& a, cudaStream_t main, cudaStream_t side, bool ordered) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal);
    fork_and_join(a, main, side, true, ordered);
    cudaStreamEndCapture(main, &graph);
    return graph;
}

CheckResult replay_equals_plain_run() {
    const Stream main;
    const Stream side;
    const Arrays plain;
    for (int i = 0; i < 3; ++i) fork_and_join(plain, main, side, true, true);
    const Arrays captured;
    cudaGraph_t graph = capture(captured, main, side, true);
    if (captured.z.values()[0] != 3.0F) return failed("capturing computed something");
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    std::size_t num_nodes = 0;
    cudaGraphGetNodes(graph, nullptr, &num_nodes);
    cudaGraphDestroy(graph);
    for (int i = 0; i < 3; ++i) cudaGraphLaunch(executable, main);
    const std::vector<float> result = captured.z.values();
    cudaGraphExecDestroy(executable);
    if (num_nodes != 3) return failed("nodes " + std::to_string(num_nodes));
    return result == plain.z.values() ? passed() : failed("result " + std::to_string(result[0]));
}

CheckResult branches_that_race() {
    const Stream main;
    const Stream side;
    const Arrays a;
    cudaGraph_t graph = capture(a, main, side, false);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, main);
    main.wait();
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    return expect_report(Finding::kGlobalRace);
}

CheckResult arguments_are_frozen() {
    const Stream stream;
    const Arrays a;
    float factor = 1.0F;
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    multiply_add(a.x.get(), a.z.get(), factor, kCount, stream);
    cudaStreamEndCapture(stream, &graph);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    factor = 100.0F;
    cudaGraphLaunch(executable, stream);
    const float result = a.z.values()[0];
    cudaGraphExecDestroy(executable);
    cudaGraphDestroy(graph);
    return result == 4.0F ? passed() : failed("result " + std::to_string(result));
}

CheckResult update() {
    const Stream stream;
    const Arrays a;
    cudaGraph_t graphs[3] = {};
    for (int i = 0; i < 3; ++i) {
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        if (i < 2)
            multiply_add(a.x.get(), a.z.get(), i == 0 ? 1.0F : 10.0F, kCount, stream);
        else
            copy(a.x.get(), a.z.get(), kCount, stream);
        cudaStreamEndCapture(stream, &graphs[i]);
    }
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graphs[0], 0);
    cudaGraphExecUpdateResultInfo info = {};
    const cudaError_t same = cudaGraphExecUpdate(executable, graphs[1], &info);
    const cudaError_t other = cudaGraphExecUpdate(executable, graphs[2], &info);
    cudaGraphLaunch(executable, stream);
    const float result = a.z.values()[0];
    cudaGraphExecDestroy(executable);
    for (cudaGraph_t graph : graphs) cudaGraphDestroy(graph);
    if (same != cudaSuccess || other != cudaErrorGraphExecUpdateFailure) return failed("update");
    return result == 13.0F ? passed() : failed("result " + std::to_string(result));
}

/// Runs `mistake` while a stream captures. @return what the end of the capture says
template <typename Mistake>
cudaError_t capture_with(const Stream& main, Mistake mistake) {
    cudaGraph_t graph = nullptr;
    cudaStreamBeginCapture(main, cudaStreamCaptureModeThreadLocal);
    mistake();
    const cudaError_t result = cudaStreamEndCapture(main, &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    return result;
}

template <typename Mistake>
CheckResult invalidates(Mistake mistake) {
    const Stream main;
    const cudaError_t result = capture_with(main, mistake);
    if (result != cudaErrorStreamCaptureInvalidated) return failed("the capture survived");
    return expect_report(Finding::kApi);
}

CheckResult allocation() {
    return invalidates([] {
        void* memory = nullptr;
        if (cudaMalloc(&memory, 16) == cudaSuccess) cudaFree(memory);
    });
}

CheckResult release() {
    const Arrays a;
    return invalidates([&] { cudaFree(a.x.get()); });
}

CheckResult synchronisation() {
    return invalidates([] { cudaDeviceSynchronize(); });
}

CheckResult pageable_memory() {
    const Arrays a;
    const Stream main;
    std::vector<float> host(kCount);
    const cudaError_t result = capture_with(main, [&] {
        cudaMemcpyAsync(a.x.get(), host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, main);
    });
    if (result != cudaErrorStreamCaptureInvalidated) return failed("the capture survived");
    return expect_report(Finding::kApi);
}

CheckResult unjoined() {
    const Arrays a;
    const Stream main;
    const Stream side;
    const cudaError_t result = capture_with(main, [&] { fork_and_join(a, main, side, false, true); });
    if (result != cudaErrorStreamCaptureUnjoined) return failed("accepted");
    return expect_report(Finding::kApi);
}

CheckResult event_from_outside() {
    const Arrays a;
    const Stream main;
    const Stream side;
    const Event event;
    cudaEventRecord(event, side);
    capture_with(main, [&] { cudaStreamWaitEvent(main, event, 0); });
    return expect_report(Finding::kApi);
}

CheckResult default_stream() {
    if (cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) == cudaSuccess)
        return failed("accepted");
    return expect_report(Finding::kApi);
}

}  // namespace

std::vector<Check> graph_checks() {
    std::vector<Check> checks{{"graph/replay equals plain run", replay_equals_plain_run},
                              {"graph/arguments are frozen", arguments_are_frozen},
                              {"graph/update", update},
                              {"graph/allocation in a capture", allocation},
                              {"graph/release in a capture", release},
                              {"graph/synchronisation in a capture", synchronisation},
                              {"graph/pageable memory in a capture", pageable_memory},
                              {"graph/branch not joined", unjoined},
                              {"graph/event from outside the capture", event_from_outside},
                              {"graph/default stream", default_stream}};
    if (emu::build() == emu::Build::kCheck)
        checks.push_back({"graph/branches that race", branches_that_race});
    return checks;
}

}  // namespace selftest
