#pragma once

#include "kernels/cpu/inner_kernels.h"
#include "kernels/cpu/simd/attend.h"
#include "kernels/cpu/simd/dequantize.h"
#include "kernels/cpu/simd/elementwise.h"
#include "kernels/cpu/simd/gemm.h"
#include "kernels/cpu/simd/gemv.h"

namespace glmchat::kernels {

template <typename Simd>
constexpr InnerKernels make_inner_kernels(IsaLevel level) {
    static_assert(kSlotsPerTile % Simd::kTileRows == 0);
    return {
        .level = level,
        .vector_width = Simd::kWidth,
        .tile_rows = Simd::kTileRows,
        .panel_cols = 2 * Simd::kWidth,
        .dequantize = dequantize<Simd>,
        .arranged_cols = arranged_cols<Simd>,
        .arrange_row = arrange_row<Simd>,
        .gemv = gemv<Simd>,
        .pack_rows = pack_rows<Simd>,
        .gemm = gemm<Simd>,
        .gemm_scratch_floats = kGemmScratchFloats<Simd>,
        .attend = attend<Simd>,
        .attend_scratch_floats = attend_scratch_floats<Simd>,
        .rms_norm = rms_norm<Simd>,
        .add = add<Simd>,
        .swiglu = swiglu<Simd>,
        .store_halves = store_halves<Simd>,
    };
}

}  // namespace glmchat::kernels
