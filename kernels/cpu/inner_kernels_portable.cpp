#include "kernels/cpu/inner_kernels.h"
#include "kernels/cpu/simd/make_inner_kernels.h"
#include "kernels/cpu/simd/simd_portable.h"

namespace glmchat::kernels {

const InnerKernels& portable_kernels() {
    static constexpr InnerKernels kKernels = make_inner_kernels<SimdPortable>(IsaLevel::kPortable);
    return kKernels;
}

}  // namespace glmchat::kernels
