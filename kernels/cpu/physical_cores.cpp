#include "kernels/cpu/physical_cores.h"

#include <algorithm>
#include <thread>

#ifdef __linux__
#include <fstream>
#include <set>
#include <string>

#include <sched.h>
#endif

namespace glmchat::kernels {
namespace {

#ifdef __linux__
/// Number of distinct sibling lists ("0,16" names both hardware threads of one core) among the CPUs we may
/// use.
int count_sibling_groups() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0) return 0;
    std::set<std::string> groups;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (!CPU_ISSET(cpu, &allowed)) continue;
        std::ifstream file("/sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                           "/topology/thread_siblings_list");
        std::string siblings;
        if (!std::getline(file, siblings)) return 0;
        groups.insert(siblings);
    }
    return static_cast<int>(groups.size());
}
#else
int count_sibling_groups() {
    return 0;
}
#endif

}  // namespace

int count_physical_cores() {
    const int groups = count_sibling_groups();
    return groups > 0 ? groups : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace glmchat::kernels
