#include <cassert>
#include <cstring>

#include "kernels/cpu/ops.h"
#include "kernels/cpu/rows.h"

namespace glmchat::kernels::cpu {
namespace {

float* row_of(Tensor tensor, std::int64_t row) {
    return tensor.as_float() + row * tensor.cols;
}

}  // namespace

void embedding(Context& context, const LinearWeight& table, const RaggedBatch& batch, Tensor hidden_states) {
    assert(hidden_states.rows == batch.num_tokens() && hidden_states.cols == table.in_features);
    for_each_row(context.pool, hidden_states.rows, hidden_states.cols, [&](std::int64_t t) {
        const std::int32_t token_id = batch.token_ids[static_cast<std::size_t>(t)];
        assert(token_id >= 0 && token_id < table.out_features);
        context.kernels.dequantize(table, token_id, 0, table.in_features, row_of(hidden_states, t));
    });
}

void rms_norm(Context& context, Tensor x, const float* weight, float eps, Tensor y) {
    assert(x.rows == y.rows && x.cols == y.cols);
    for_each_row(context.pool, x.rows, x.cols, [&](std::int64_t row) {
        context.kernels.rms_norm(row_of(x, row), weight, eps, x.cols, row_of(y, row));
    });
}

void add_rms_norm(Context& context, Tensor residual, Tensor delta, const float* weight, float eps, Tensor y) {
    assert(residual.rows == delta.rows && residual.cols == delta.cols);
    assert(residual.rows == y.rows && residual.cols == y.cols);
    for_each_row(context.pool, residual.rows, residual.cols, [&](std::int64_t row) {
        context.kernels.add(row_of(residual, row), row_of(delta, row), residual.cols);
        context.kernels.rms_norm(row_of(residual, row), weight, eps, residual.cols, row_of(y, row));
    });
}

void add(Context& context, Tensor residual, Tensor delta) {
    assert(residual.rows == delta.rows && residual.cols == delta.cols);
    for_each_row(context.pool, residual.rows, residual.cols, [&](std::int64_t row) {
        context.kernels.add(row_of(residual, row), row_of(delta, row), residual.cols);
    });
}

void swiglu(Context& context, Tensor gate_up, Tensor y) {
    assert(gate_up.rows == y.rows && gate_up.cols == 2 * y.cols);
    for_each_row(context.pool, y.rows, y.cols, [&](std::int64_t row) {
        const float* gate = row_of(gate_up, row);
        context.kernels.swiglu(gate, gate + y.cols, y.cols, row_of(y, row));
    });
}

void gather_rows(Context& context, Tensor x, std::span<const std::int32_t> rows, Tensor y) {
    assert(y.rows == static_cast<std::int64_t>(rows.size()) && x.cols == y.cols);
    for_each_row(context.pool, y.rows, y.cols, [&](std::int64_t i) {
        const std::int32_t row = rows[static_cast<std::size_t>(i)];
        assert(row >= 0 && row < x.rows);
        std::memcpy(row_of(y, i), row_of(x, row), element_bytes(ElementType::kFloat32, x.cols));
    });
}

}  // namespace glmchat::kernels::cpu
