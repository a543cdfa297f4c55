#include "kernels/cpu/inner_kernels.h"
#include "kernels/cpu/simd/make_inner_kernels.h"
#include "kernels/cpu/simd/simd_avx512.h"

namespace glmchat::kernels {

const InnerKernels& avx512_kernels() {
    static constexpr InnerKernels kKernels = make_inner_kernels<SimdAvx512>(IsaLevel::kAvx512);
    return kKernels;
}

}  // namespace glmchat::kernels
