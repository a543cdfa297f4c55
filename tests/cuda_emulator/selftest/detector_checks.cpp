#include <fstream>
#include <numeric>

#include "tests/cuda_emulator/selftest/detectors.h"
#include "tests/cuda_emulator/selftest/selftest_support.h"

namespace selftest {
namespace {

using namespace glmchat::test;

unsigned this_build() {
    return emu::build() == emu::Build::kFast ? kFast : emu::build() == emu::Build::kCheck ? kCheck : kAsan;
}

/// Numbers of the lines that carry "reported: …name…".
std::vector<int> marked_lines(const std::string& name) {
    std::ifstream file(SELFTEST_DETECTORS);
    std::vector<int> lines;
    std::string text;
    for (int line = 1; std::getline(file, text); ++line) {
        const std::size_t at = text.find("// reported: ");
        if (at != std::string::npos && text.find(name, at) != std::string::npos) lines.push_back(line);
    }
    return lines;
}

bool names_line(const emu::Report& report, const std::vector<int>& lines) {
    for (const int line : lines) {
        const std::string wanted = "detectors.cu:" + std::to_string(line);
        const std::size_t at = report.where.find(wanted);
        if (at != std::string::npos && !std::isdigit(report.where[at + wanted.size()])) return true;
    }
    return lines.empty();
}

std::vector<emu::Report> reports_of(const Detector& detector, int wrong) {
    const Stream stream;
    std::vector<float> values(kCount);
    std::iota(values.begin(), values.end(), 0.0F);
    const DeviceArray<float> x(values);
    const DeviceArray<float> y(std::vector<float>(kCount, 0.0F));
    const DeviceArray<float> empty(kCount);
    const DeviceArray<unsigned> ticket(std::vector<unsigned>{0});
    float* freed = x.get();
    if (wrong != 0) {
        cudaMalloc(&freed, kCount * sizeof(float));
        cudaFree(freed);
    }
    float* const host = wrong != 0 ? values.data() : x.get();
    detector.run({x.get(), y.get(), empty.get(), freed, host, ticket.get()}, wrong, stream);
    stream.wait();
    return emu::take_reports();  // before the arrays go: a device that failed frees nothing
}

CheckResult wrong_form(const Detector& detector) {
    const std::vector<emu::Report> reports = reports_of(detector, 1);
    const std::vector<int> lines = marked_lines(detector.name);
    for (const emu::Report& report : reports) {
        if (report.finding != detector.finding || !names_line(report, lines)) continue;
        const bool on_host = detector.finding == emu::Finding::kLimit;
        if (!on_host && report.thread.find("block (") == std::string::npos) return failed("no thread named");
        return passed();
    }
    return failed(std::string("expected ") + emu::name_of(detector.finding) +
                  "; reported: " + text_of(reports));
}

CheckResult right_form(const Detector& detector) {
    const std::vector<emu::Report> reports = reports_of(detector, 0);
    return reports.empty() ? passed() : failed("false alarm: " + text_of(reports));
}

}  // namespace

std::vector<Check> detector_checks() {
    std::vector<Check> checks;
    for (const Detector& detector : detectors()) {
        const std::string name = std::string("detector/") + detector.name;
        if ((detector.builds & this_build()) != 0) {
            checks.push_back({name + ", wrong", [detector] { return wrong_form(detector); }});
        }
        checks.push_back({name + ", right", [detector] { return right_form(detector); }});
    }
    return checks;
}

}  // namespace selftest
