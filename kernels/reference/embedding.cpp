#include <cassert>

#include "kernels/reference/dequantize.h"
#include "kernels/reference/ops.h"

namespace glmchat::kernels::reference {

void embedding(const LinearWeight& table, const RaggedBatch& batch, Tensor hidden_states) {
    assert(hidden_states.rows == batch.num_tokens() && hidden_states.cols == table.in_features);
    for (std::int32_t t = 0; t < batch.num_tokens(); ++t) {
        const std::int32_t token_id = batch.token_ids[static_cast<std::size_t>(t)];
        assert(token_id >= 0 && token_id < table.out_features);
        dequantize_row(table, token_id, hidden_states.as_float() + t * hidden_states.cols);
    }
}

}  // namespace glmchat::kernels::reference
