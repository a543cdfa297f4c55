#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "tests/support/check.h"

#include "kernels/backend.h"
#include "kernels/cpu/isa.h"

namespace glmchat::test {

/// Reproducible numbers; the state is the sequence of calls.
class RandomData {
  public:
    explicit RandomData(std::uint32_t seed) : engine_(seed) {}
    std::vector<float> normal(std::int64_t count, float standard_deviation = 1.0F);
    std::int32_t integer(std::int32_t first, std::int32_t last);  ///< both included
    std::mt19937& engine() { return engine_; }

  private:
    std::mt19937 engine_;
};

/// How a weight is stored.
struct WeightFormat {
    kernels::ElementType type = kernels::ElementType::kFloat32;
    kernels::ScaleLayout layout = kernels::ScaleLayout::kNone;
    kernels::ElementType scale_type = kernels::ElementType::kFloat16;
    std::int64_t group_size = 0;
};
std::string format_name(const WeightFormat& format);  ///< "int4 group32 fp16-scale"
/// Every element type with every scale layout, group sizes that do and do not fill whole vectors included.
std::vector<WeightFormat> all_weight_formats();

/// Random numbers in every representable bit pattern of the format, at an odd address, as a mapped file may
/// have them.
kernels::LinearWeight random_weight(const WeightFormat& format, std::int64_t out_features,
                                    std::int64_t in_features, RandomData& random);

/// Memory of a backend that holds `values`.
kernels::Buffer upload(kernels::Backend& backend, std::span<const float> values);
std::vector<float> download(kernels::Backend& backend, const kernels::Buffer& buffer, std::int64_t count);
kernels::Tensor float_matrix(const kernels::Buffer& buffer, std::int64_t rows, std::int64_t cols);

/// Empty when |actual[i] - expected[i]| <= tolerance(i) for all i, else what differs most. `largest` is
/// raised to the largest share of a tolerance that was used.
std::string compare(std::span<const float> actual, std::span<const float> expected,
                    const std::function<double(std::size_t)>& tolerance, double& largest);

/// One check per instruction set, skipped with a reason where this machine lacks it.
/// name: "part/case"; the level's name is inserted after the part.
void add_per_isa(std::vector<Check>& checks, const std::string& name,
                 std::function<CheckResult(kernels::IsaLevel)> check);

}  // namespace glmchat::test
