#include "kernels/cpu/isa.h"

#include <array>
#include <cstdlib>

#ifdef GLMCHAT_KERNELS_X86
#include <cpuid.h>
#endif

namespace glmchat::kernels {
namespace {

constexpr std::array kStrongestFirst = {IsaLevel::kAvx512, IsaLevel::kAvx2, IsaLevel::kPortable};

}  // namespace

std::string_view isa_name(IsaLevel level) {
    static constexpr std::array<std::string_view, 3> kNames = {"portable", "avx2", "avx512"};
    return kNames[static_cast<std::size_t>(level)];
}

std::optional<IsaLevel> parse_isa_level(std::string_view name) {
    for (const IsaLevel level : kStrongestFirst) {
        if (isa_name(level) == name) return level;
    }
    return std::nullopt;
}

#ifdef GLMCHAT_KERNELS_X86
namespace {

/// Clang's __builtin_cpu_supports does not know this one.
bool has_f16c() {
    unsigned eax = 0;
    unsigned ebx = 0;
    unsigned ecx = 0;
    unsigned edx = 0;
    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

}  // namespace

bool isa_supported(IsaLevel level) {
    if (level == IsaLevel::kPortable) return true;
    // The compiler's run time reads cpuid, and XGETBV for whether the operating system saves the wide
    // registers.
    __builtin_cpu_init();
    const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
    if (level == IsaLevel::kAvx2) return avx2;
    return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#else
bool isa_supported(IsaLevel level) {
    return level == IsaLevel::kPortable;
}
#endif

IsaLevel choose_isa_level() {
    const char* variable = std::getenv("GLMCHAT_CPU_ISA");
    const std::optional<IsaLevel> wanted = parse_isa_level(variable == nullptr ? "" : variable);
    const IsaLevel strongest_allowed = wanted.value_or(kStrongestFirst.front());
    for (const IsaLevel level : kStrongestFirst) {
        if (level <= strongest_allowed && isa_supported(level)) return level;
    }
    return IsaLevel::kPortable;
}

}  // namespace glmchat::kernels
