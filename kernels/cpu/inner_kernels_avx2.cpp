#include "kernels/cpu/inner_kernels.h"
#include "kernels/cpu/simd/make_inner_kernels.h"
#include "kernels/cpu/simd/simd_avx2.h"

namespace glmchat::kernels {

const InnerKernels& avx2_kernels() {
    static constexpr InnerKernels kKernels = make_inner_kernels<SimdAvx2>(IsaLevel::kAvx2);
    return kKernels;
}

}  // namespace glmchat::kernels
