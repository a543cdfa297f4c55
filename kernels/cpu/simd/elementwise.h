#pragma once

#include <cstdint>
#include <cstring>

namespace glmchat::kernels {

/// exp(x), relative error below 2e-7; results stay within [1e-38, 2e38], NaN stays NaN.
/// x = n ln 2 + r with |r| <= ln 2 / 2: exp(x) = 2^n exp(r), and exp(r) by its Taylor series; the first term
/// left out, r^8 / 8!, is below 6e-9.
template <typename Simd>
typename Simd::Reg exp_vector(typename Simd::Reg x) {
    using Reg = typename Simd::Reg;
    // The bounds come first: max and min give their second operand where it is NaN.
    x = Simd::min(Simd::broadcast(88.3F), Simd::max(Simd::broadcast(-87.3F), x));
    const Reg n = Simd::round(Simd::mul(x, Simd::broadcast(1.44269504F)));
    // ln 2 in two parts; the first has few enough bits for n * part to be exact.
    Reg r = Simd::fma(n, Simd::broadcast(-0.693359375F), x);
    r = Simd::fma(n, Simd::broadcast(2.12194440e-4F), r);
    constexpr float kTaylor[] = {1.0F / 720.0F, 1.0F / 120.0F, 1.0F / 24.0F, 1.0F / 6.0F, 0.5F, 1.0F, 1.0F};
    Reg series = Simd::broadcast(1.0F / 5040.0F);
    for (const float coefficient : kTaylor) series = Simd::fma(series, r, Simd::broadcast(coefficient));
    return Simd::times_power_of_two(series, n);
}

/// InnerKernels::rms_norm.
template <typename Simd>
void rms_norm(const float* x, const float* weight, float eps, std::int64_t cols, float* y) {
    using Reg = typename Simd::Reg;
    const std::int64_t whole = cols / Simd::kWidth * Simd::kWidth;
    Reg squares = Simd::zero();
    for (std::int64_t i = 0; i < whole; i += Simd::kWidth) {
        const Reg value = Simd::load(x + i);
        squares = Simd::fma(value, value, squares);
    }
    float sum = Simd::reduce_add(squares);
    for (std::int64_t i = whole; i < cols; ++i) sum += x[i] * x[i];
    const float inverse_rms = 1.0F / __builtin_sqrtf(sum / static_cast<float>(cols) + eps);
    const Reg factor = Simd::broadcast(inverse_rms);
    for (std::int64_t i = 0; i < whole; i += Simd::kWidth) {
        Simd::store(y + i, Simd::mul(Simd::mul(Simd::load(x + i), factor), Simd::load(weight + i)));
    }
    for (std::int64_t i = whole; i < cols; ++i) y[i] = x[i] * inverse_rms * weight[i];
}

/// InnerKernels::add.
template <typename Simd>
void add(float* sum, const float* delta, std::int64_t count) {
    const std::int64_t whole = count / Simd::kWidth * Simd::kWidth;
    for (std::int64_t i = 0; i < whole; i += Simd::kWidth) {
        Simd::store(sum + i, Simd::add(Simd::load(sum + i), Simd::load(delta + i)));
    }
    for (std::int64_t i = whole; i < count; ++i) sum[i] += delta[i];
}

template <typename Simd>
typename Simd::Reg silu(typename Simd::Reg x) {
    const auto one = Simd::broadcast(1.0F);
    return Simd::div(x, Simd::add(one, exp_vector<Simd>(Simd::sub(Simd::zero(), x))));
}

/// InnerKernels::swiglu.
template <typename Simd>
void swiglu(const float* gate, const float* up, std::int64_t count, float* y) {
    constexpr std::int64_t kWidth = Simd::kWidth;
    const std::int64_t whole = count / kWidth * kWidth;
    for (std::int64_t i = 0; i < whole; i += kWidth) {
        Simd::store(y + i, Simd::mul(silu<Simd>(Simd::load(gate + i)), Simd::load(up + i)));
    }
    if (whole == count) return;
    const auto left_bytes = static_cast<std::size_t>(count - whole) * sizeof(float);
    float last_gate[kWidth] = {};
    float last_up[kWidth] = {};
    std::memcpy(last_gate, gate + whole, left_bytes);
    std::memcpy(last_up, up + whole, left_bytes);
    Simd::store(last_gate, Simd::mul(silu<Simd>(Simd::load(last_gate)), Simd::load(last_up)));
    std::memcpy(y + whole, last_gate, left_bytes);
}

/// InnerKernels::store_halves.
template <typename Simd>
void store_halves(const float* values, std::int64_t count, std::uint16_t* halves) {
    constexpr std::int64_t kWidth = Simd::kWidth;
    const std::int64_t whole = count / kWidth * kWidth;
    for (std::int64_t i = 0; i < whole; i += kWidth) Simd::store_half(halves + i, Simd::load(values + i));
    if (whole == count) return;
    float last[kWidth] = {};
    std::uint16_t last_halves[kWidth];
    std::memcpy(last, values + whole, static_cast<std::size_t>(count - whole) * sizeof(float));
    Simd::store_half(last_halves, Simd::load(last));
    std::memcpy(halves + whole, last_halves, static_cast<std::size_t>(count - whole) * sizeof(std::uint16_t));
}

}  // namespace glmchat::kernels
