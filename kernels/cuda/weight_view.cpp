#include "kernels/cuda/ops.h"

namespace glmchat::kernels::cuda {

WeightView view_of(const LinearWeight& weight) {
    WeightView view;
    view.type = weight.type;
    view.scale_type = weight.scale_type;
    view.scale_layout = weight.scale_layout;
    view.data = weight.data;
    view.scales = weight.scales;
    view.out_features = static_cast<std::int32_t>(weight.out_features);
    view.in_features = static_cast<std::int32_t>(weight.in_features);
    view.group_size = static_cast<std::int32_t>(weight.group_size);
    if (weight.scale_layout == ScaleLayout::kPerGroup) {
        view.groups_per_row =
            static_cast<std::int32_t>((weight.in_features + weight.group_size - 1) / weight.group_size);
    }
    return view;
}

}  // namespace glmchat::kernels::cuda
