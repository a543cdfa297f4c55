#include "kernels/cpu/inner_kernels.h"

namespace glmchat::kernels {

const InnerKernels& inner_kernels(IsaLevel level) {
#ifdef GLMCHAT_KERNELS_X86
    if (level == IsaLevel::kAvx512) return avx512_kernels();
    if (level == IsaLevel::kAvx2) return avx2_kernels();
#endif
    static_cast<void>(level);
    return portable_kernels();
}

}  // namespace glmchat::kernels
