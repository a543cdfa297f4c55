#include <functional>

#include "tests/cuda_emulator/selftest/selftest_support.h"
#include "tests/cuda_emulator/selftest/stream_kernels.h"

namespace selftest {
namespace {

using namespace glmchat::test;
using emu::Finding;

constexpr int kCount = 100;
constexpr int kSeeds = 20;

/// A copy in one stream, its reader in another.
struct TwoStreams {
    Stream copies;
    Stream kernels;
    DeviceArray<float> x{std::vector<float>(kCount, 0.0F)};
    DeviceArray<float> y{std::vector<float>(kCount, 0.0F)};
    std::vector<float> host = std::vector<float>(kCount, 1.0F);

    void start_copy() {
        cudaMemcpyAsync(x.get(), host.data(), kCount * sizeof(float), cudaMemcpyHostToDevice, copies);
    }
    void start_kernel() { copy(x.get(), y.get(), kCount, kernels); }
};

/// Whatever order the streams advance in: found in the check build alone, by clocks.
CheckResult for_all_seeds(const std::function<void(TwoStreams&)>& enqueue, bool expect_race) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        emu::set_lane_order(emu::LaneOrder::kRandom, seed);
        TwoStreams streams;
        enqueue(streams);
        cudaDeviceSynchronize();
        const std::vector<emu::Report> reports = emu::take_reports();
        const bool race = has(reports, Finding::kGlobalRace);
        if (race != expect_race || (!race && !reports.empty())) {
            return failed("seed " + std::to_string(seed) + ": " + text_of(reports));
        }
        if (!expect_race && streams.y.values() != streams.host)
            return failed("seed " + std::to_string(seed) + ": values");
    }
    return passed();
}

CheckResult without_event() {
    return for_all_seeds(
        [](TwoStreams& s) {
            s.start_copy();
            s.start_kernel();
        },
        true);
}

CheckResult with_event() {
    return for_all_seeds(
        [](TwoStreams& s) {
            const Event copied;
            s.start_copy();
            cudaEventRecord(copied, s.copies);
            cudaStreamWaitEvent(s.kernels, copied, 0);
            s.start_kernel();
        },
        false);
}

CheckResult event_recorded_too_early() {
    return for_all_seeds(
        [](TwoStreams& s) {
            const Event copied;
            cudaEventRecord(copied, s.copies);
            s.start_copy();
            cudaStreamWaitEvent(s.kernels, copied, 0);
            s.start_kernel();
        },
        true);
}

CheckResult host_waits_between() {
    return for_all_seeds(
        [](TwoStreams& s) {
            s.start_copy();
            s.copies.wait();
            s.start_kernel();
        },
        false);
}

CheckResult host_waits_for_an_event() {
    return for_all_seeds(
        [](TwoStreams& s) {
            const Event copied;
            s.start_copy();
            cudaEventRecord(copied, s.copies);
            cudaEventSynchronize(copied);
            s.start_kernel();
        },
        false);
}

CheckResult refilled_while_read() {
    return for_all_seeds(
        [](TwoStreams& s) {
            s.start_copy();
            s.copies.wait();
            s.start_kernel();
            s.start_copy();
        },
        true);
}

CheckResult through_a_third_stream() {
    return for_all_seeds(
        [](TwoStreams& s) {
            const Stream between;
            const Event first;
            const Event second;
            s.start_copy();
            cudaEventRecord(first, s.copies);
            cudaStreamWaitEvent(between, first, 0);
            cudaEventRecord(second, between);
            cudaStreamWaitEvent(s.kernels, second, 0);
            s.start_kernel();
        },
        false);
}

CheckResult nothing_runs_before_a_wait() {
    TwoStreams s;
    float result = 0.0F;
    float* pinned = nullptr;
    cudaMallocHost(&pinned, sizeof(float));
    *pinned = 5.0F;
    cudaMemcpyAsync(s.x.get(), pinned, sizeof(float), cudaMemcpyHostToDevice, s.copies);
    *pinned = 6.0F;  // too early: the copy has not run
    cudaMemcpyAsync(&result, s.x.get(), sizeof(float), cudaMemcpyDeviceToHost, s.copies);
    if (result != 0.0F) return failed("a copy ran before anybody waited");
    s.copies.wait();
    cudaFreeHost(pinned);
    return result == 6.0F ? passed() : failed("a pinned source is read when the stream gets there");
}

CheckResult pageable_source_is_staged() {
    TwoStreams s;
    float value = 5.0F;
    float result = 0.0F;
    cudaMemcpyAsync(s.x.get(), &value, sizeof value, cudaMemcpyHostToDevice, s.copies);
    value = 6.0F;
    cudaMemcpyAsync(&result, s.x.get(), sizeof result, cudaMemcpyDeviceToHost, s.copies);
    s.copies.wait();
    return result == 5.0F ? passed() : failed("result " + std::to_string(result));
}

void add_one(void* number) {
    ++*static_cast<int*>(number);
}

void call_runtime(void*) {
    cudaStreamQuery(nullptr);
}

CheckResult host_function() {
    const Stream stream;
    int calls = 0;
    cudaLaunchHostFunc(stream, add_one, &calls);
    if (calls != 0) return failed("ran when it was enqueued");
    stream.wait();
    if (calls != 1) return failed("calls " + std::to_string(calls));
    cudaLaunchHostFunc(stream, call_runtime, nullptr);
    stream.wait();
    return expect_report(Finding::kApi);
}

CheckResult polling_gets_on() {
    TwoStreams s;
    const Event done;
    s.start_copy();
    cudaEventRecord(done, s.copies);
    for (int i = 0; i < 100; ++i) {
        if (cudaEventQuery(done) == cudaSuccess) return passed();
    }
    return failed("the event never came");
}

CheckResult default_stream_is_reported() {
    TwoStreams s;
    copy(s.x.get(), s.y.get(), kCount, nullptr);
    cudaDeviceSynchronize();
    return expect_report(Finding::kApi);
}

CheckResult stream_that_is_gone() {
    cudaStream_t gone = nullptr;
    cudaStreamCreate(&gone);
    cudaStreamDestroy(gone);
    if (cudaStreamSynchronize(gone) != cudaErrorInvalidResourceHandle) return failed("accepted");
    return expect_report(Finding::kApi);
}

CheckResult failed_kernel_is_sticky() {
    if (emu::build() != emu::Build::kCheck) return skipped("needs the check build");
    TwoStreams s;
    copy(s.x.get(), s.y.get(), kCount + 1, s.kernels);
    if (cudaStreamSynchronize(s.kernels) != cudaErrorIllegalAddress) return failed("the wait did not fail");
    if (cudaStreamSynchronize(s.copies) != cudaErrorIllegalAddress)
        return failed("the next call did not fail");
    return expect_report(Finding::kOutOfBounds);
}

CheckResult elapsed_time() {
    TwoStreams s;
    cudaEvent_t begin = nullptr;
    cudaEvent_t end = nullptr;
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    cudaEventRecord(begin, s.kernels);
    s.start_kernel();
    cudaEventRecord(end, s.kernels);
    cudaEventSynchronize(end);
    float milliseconds = -1.0F;
    const cudaError_t result = cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return result == cudaSuccess && milliseconds > 0.0F ? passed() : failed("no time");
}

}  // namespace

std::vector<Check> stream_checks() {
    std::vector<Check> checks{{"stream/event between copy and kernel", with_event},
                              {"stream/host waits between", host_waits_between},
                              {"stream/host waits for an event", host_waits_for_an_event},
                              {"stream/ordered through a third stream", through_a_third_stream},
                              {"stream/nothing runs before a wait", nothing_runs_before_a_wait},
                              {"stream/pageable source is staged", pageable_source_is_staged},
                              {"stream/host function", host_function},
                              {"stream/polling gets on", polling_gets_on},
                              {"stream/default stream", default_stream_is_reported},
                              {"stream/stream that is gone", stream_that_is_gone},
                              {"stream/failed kernel is sticky", failed_kernel_is_sticky},
                              {"stream/elapsed time", elapsed_time}};
    if (emu::build() != emu::Build::kCheck) return checks;
    checks.push_back({"stream/no event between copy and kernel", without_event});
    checks.push_back({"stream/event recorded too early", event_recorded_too_early});
    checks.push_back({"stream/refilled while read", refilled_while_read});
    return checks;
}

}  // namespace selftest
