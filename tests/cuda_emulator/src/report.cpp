#include <csetjmp>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "device.h"
#include "machine.h"
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

/// Findings: collected without repeats, given a source line only when somebody reads them.
namespace emu {

cudaError_t sticky_error = cudaSuccess;
Counters count;

namespace {

struct Pending {
    Report report;
    const void* program_address = nullptr;
    const void* kernel = nullptr;
};
std::vector<Pending> pending;

extern "C" const char __executable_start;

/// "file:line" and the function of an address in this program, from addr2line; asked once per address.
struct Symbol {
    std::string function;
    std::string line;
};

std::string read_line(FILE* pipe) {
    char text[4096];
    if (std::fgets(text, sizeof text, pipe) == nullptr) return "??";
    text[std::strcspn(text, "\n")] = '\0';
    return text;
}

/// Program headers start at address 0 in a file that may be loaded anywhere.
std::uintptr_t load_offset() {
    Dl_info info = {};
    const bool found = dladdr(&__executable_start, &info) != 0;
    const auto base = found ? reinterpret_cast<std::uintptr_t>(info.dli_fbase) : 0;
    const auto start = reinterpret_cast<std::uintptr_t>(&__executable_start);
    return start == base && start > 0x1000000 ? base : 0;
}

const Symbol& symbol_of(const void* address) {
    static std::map<const void*, Symbol> known;
    const auto found = known.find(address);
    if (found != known.end()) return found->second;
    char path[4096] = {};
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    Symbol symbol{"??", "??:0"};
    if (length > 0) {
        const std::string command = format("addr2line -Cfe '%s' 0x%zx 2>/dev/null", path,
                                           reinterpret_cast<std::uintptr_t>(address) - load_offset());
        if (FILE* pipe = popen(command.c_str(), "r")) {
            symbol.function = read_line(pipe);
            symbol.line = read_line(pipe);
            pclose(pipe);
        }
    }
    return known[address] = symbol;
}

/// Without unnamed namespaces and parameters.
std::string kernel_name(const void* kernel) {
    static constexpr char kUnnamed[] = "(anonymous namespace)::";
    std::string name = symbol_of(kernel).function;
    for (std::size_t at = name.find(kUnnamed); at != std::string::npos; at = name.find(kUnnamed)) {
        name.erase(at, sizeof kUnnamed - 1);
    }
    int depth = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (name[i] == '(' && depth == 0) return name.substr(0, i);
        depth += name[i] == '<' ? 1 : name[i] == '>' ? -1 : 0;
    }
    return name;
}

const Report& resolved(Pending& entry) {
    if (entry.program_address != nullptr) {
        // A return address belongs to the instruction after the call.
        entry.report.where = symbol_of(static_cast<const char*>(entry.program_address) - 1).line;
        entry.program_address = nullptr;
    }
    if (entry.kernel != nullptr) entry.report.kernel = kernel_name(entry.kernel);
    entry.kernel = nullptr;
    return entry.report;
}

bool repeats(const Pending& entry, Finding finding, const std::string& what, const Place& place,
             const std::string& where) {
    if (entry.report.finding != finding) return false;
    if (place.program_address != nullptr) return entry.program_address == place.program_address;
    if (!where.empty()) return entry.report.where == where && entry.program_address == nullptr;
    return entry.report.what == what;
}

// --- signals ---

sigjmp_buf* expecting_fault = nullptr;

std::string describe_signal(int number, const void* address) {
    if (number == SIGILL) return "an array index or an arithmetic result that the compiler proved wrong";
    const int overflown = fiber_of_guard_page(address);
    if (overflown >= 0) return "stack overflow";
    return format("%s at %s", number == SIGFPE ? "arithmetic fault" : "access",
                  describe_address(address, 1).c_str());
}

void handle_fault(int number, siginfo_t* info, void*) {
    if (expecting_fault != nullptr) siglongjmp(*expecting_fault, 1);
    if (block.launch != nullptr && current != nullptr) {
        const bool index = number == SIGILL;
        report(index ? Finding::kArrayIndex : Finding::kFault, describe_signal(number, info->si_addr),
               {block.launch->site});
        abort_kernel();
    }
    const bool on_device = arena.base != nullptr && arena.holds(info->si_addr);
    std::fprintf(stderr, "CUDA emulator: signal %d: %s %s\n", number,
                 on_device ? "host code dereferenced device memory:" : "host code accessed",
                 describe_address(info->si_addr, 1).c_str());
    signal(number, SIG_DFL);
    raise(number);
}

/// Stack for the handlers: a fiber's own may be what overflowed.
const bool handlers_installed = [] {
    if constexpr (kBuild == Build::kAsan) return false;
    static char stack[64 * 1024];
    stack_t alternative = {};
    alternative.ss_sp = stack;
    alternative.ss_size = sizeof stack;
    sigaltstack(&alternative, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = handle_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigaction(number, &action, nullptr);
    return true;
}();

}  // namespace

std::recursive_mutex& machine_mutex() {
    static std::recursive_mutex mutex;
    return mutex;
}

std::string format(const char* pattern, ...) {
    char text[1024];
    va_list arguments;
    va_start(arguments, pattern);
    std::vsnprintf(text, sizeof text, pattern, arguments);
    va_end(arguments);
    return text;
}

std::string describe(Site site) {
    return format("%s:%d", site.file, site.line);
}

std::string describe_thread(const Lane& lane) {
    return format("block (%u,%u,%u) thread (%u,%u,%u)", grid.block.x, grid.block.y, grid.block.z,
                  lane.thread.x, lane.thread.y, lane.thread.z);
}

void report(Finding finding, std::string what, Place place) {
    const std::string where = place.site.line != 0 ? describe(place.site) : "";
    for (Pending& entry : pending) {
        if (!repeats(entry, finding, what, place, where)) continue;
        ++entry.report.times;
        return;
    }
    Pending entry;
    entry.report = {finding, std::move(what), where, "", "", 1};
    entry.program_address = place.program_address;
    if (block.launch != nullptr && current != nullptr) {
        entry.kernel = block.launch->kernel;
        entry.report.thread = describe_thread(this_lane());
    }
    pending.push_back(std::move(entry));
}

const char* name_of(Finding finding) {
    static constexpr const char* kNames[] = {
        "out of bounds",    "uninitialised read", "misaligned",  "array index",
        "in-flight access", "shared race",        "global race", "divergence",
        "warp source",      "copy not awaited",   "limit",       "fault",
        "host access",      "API misuse",         "leak"};
    return kNames[static_cast<int>(finding)];
}

std::string Report::text() const {
    std::string line = std::string(name_of(finding)) + ": " + what;
    if (!where.empty()) line += "\n    at " + where;
    if (!kernel.empty()) line += "\n    in " + kernel + ", " + thread;
    if (times > 1) line += format("\n    %zu times in all", times);
    return line;
}

std::size_t num_reports() {
    return pending.size();
}

std::vector<Report> take_reports() {
    const std::lock_guard lock(machine_mutex());
    std::vector<Report> reports;
    for (Pending& entry : pending) reports.push_back(resolved(entry));
    pending.clear();
    sticky_error = cudaSuccess;
    return reports;
}

Build build() {
    return kBuild;
}

Counters counters() {
    return count;
}

bool host_faults(void (*code)(void*), void* argument) {
    sigjmp_buf back;
    expecting_fault = &back;
    if (sigsetjmp(back, 1) == 0) {
        code(argument);
        expecting_fault = nullptr;
        return false;
    }
    expecting_fault = nullptr;
    return true;
}

}  // namespace emu
