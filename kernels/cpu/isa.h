#pragma once

#include <optional>
#include <string_view>

namespace glmchat::kernels {

/// The instruction sets the inner kernels are compiled for, weakest first.
enum class IsaLevel {
    kPortable,  ///< x86-64-v2 on x86-64, the compiler's default elsewhere
    kAvx2,      ///< AVX2 + FMA + F16C
    kAvx512,    ///< AVX-512 F + BW + DQ + VL
};

std::string_view isa_name(IsaLevel level);                       ///< "portable", "avx2", "avx512"
std::optional<IsaLevel> parse_isa_level(std::string_view name);  ///< the inverse of isa_name

/// True when this program contains the level and the processor and the operating system can run it.
bool isa_supported(IsaLevel level);

/// The strongest supported level, but no stronger than the one named by the environment variable
/// GLMCHAT_CPU_ISA (any other value of it is ignored).
IsaLevel choose_isa_level();

}  // namespace glmchat::kernels
