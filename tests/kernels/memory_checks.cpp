#include <cstring>
#include <limits>

#include "tests/kernels/check_parts.h"
#include "tests/kernels/test_data.h"

#include "kernels/half.h"

namespace glmchat::test {
namespace {

using kernels::Backend;
using kernels::BackendError;
using kernels::ElementType;
using MakeBackend = std::unique_ptr<Backend> (*)();

CheckResult check_zero_filled(MakeBackend make) {
    const auto backend = make();
    for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{3} << 20}) {
        const kernels::Buffer buffer = backend->allocate(size);
        if (reinterpret_cast<std::uintptr_t>(buffer.data()) % 64 != 0)
            return failed("not aligned to 64 bytes");
        const auto* bytes = static_cast<const unsigned char*>(buffer.data());
        for (std::size_t i = 0; i < size; ++i) {
            if (bytes[i] != 0) return failed("byte " + std::to_string(i) + " of " + std::to_string(size));
        }
    }
    return passed();
}

/// More than an address space holds.
CheckResult check_out_of_memory(MakeBackend make) {
    const auto backend = make();
    constexpr std::size_t kAbsurd = std::numeric_limits<std::size_t>::max() / 4;
    try {
        const kernels::Buffer buffer = backend->allocate(kAbsurd);
    } catch (const BackendError& error) {
        if (error.kind != BackendError::Kind::kOutOfMemory) return failed("wrong kind");
        return error.needed_bytes == kAbsurd ? passed() : failed("wrong needed_bytes");
    }
    return failed("allocate did not throw");
}

/// 256 GiB of untouched memory cost nothing: a KV cache takes pages only as it fills.
CheckResult check_lazy(MakeBackend make) {
    const auto backend = make();
    try {
        const kernels::Buffer buffer = backend->allocate(std::size_t{8} << 30);
        auto* bytes = static_cast<unsigned char*>(buffer.data());
        bytes[buffer.size_bytes() - 1] = 1;
        return passed();
    } catch (const BackendError&) {
        return skipped("the system does not overcommit memory");
    }
}

CheckResult check_weight_is_shared(MakeBackend make) {
    const auto backend = make();
    RandomData random(1);
    kernels::LinearWeight host = random_weight({}, 4, 8, random);
    const std::weak_ptr<const void> owner = host.owner;
    kernels::LinearWeight prepared = backend->prepare_weight(host);
    const bool same_memory = prepared.data == host.data;
    host = {};
    if (owner.expired()) return failed("the prepared weight does not keep its memory alive");
    prepared = {};
    if (!owner.expired()) return failed("the memory outlives the weight");
    return same_memory ? passed() : failed("the weight was copied");
}

CheckResult check_prepare_vector(MakeBackend make) {
    const auto backend = make();
    const std::vector<float> values = {0.0F, -1.5F, 3.140625F, 65504.0F, 0.5F};  // exact in all three types
    for (const ElementType type : {ElementType::kFloat32, ElementType::kFloat16, ElementType::kBFloat16}) {
        std::vector<std::byte> stored(1 + 4 * values.size());  // from an odd address
        std::vector<float> expected = values;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::uint16_t bits = type == ElementType::kFloat16 ? kernels::float_to_half(values[i])
                                                                     : kernels::float_to_bfloat16(values[i]);
            if (type == ElementType::kFloat32) {
                std::memcpy(&stored[1 + 4 * i], &values[i], 4);
            } else {
                std::memcpy(&stored[1 + 2 * i], &bits, 2);
            }
            if (type == ElementType::kBFloat16) expected[i] = kernels::bfloat16_to_float(bits);
        }
        const auto count = static_cast<std::int64_t>(values.size());
        if (download(*backend, backend->prepare_vector(&stored[1], type, count), count) != expected) {
            return failed("type " + std::to_string(static_cast<int>(type)));
        }
    }
    return passed();
}

}  // namespace

std::vector<Check> memory_checks() {
    std::vector<Check> checks;
    const std::pair<const char*, MakeBackend> backends[] = {
        {"memory/reference/", [] { return kernels::make_reference_backend(); }},
        {"memory/cpu/", [] { return kernels::make_cpu_backend(); }},
    };
    const std::pair<const char*, CheckResult (*)(MakeBackend)> cases[] = {
        {"zero-filled and aligned", check_zero_filled},
        {"out of memory is reported", check_out_of_memory},
        {"pages are taken when touched", check_lazy},
        {"weights are shared, not copied", check_weight_is_shared},
        {"vectors become float32", check_prepare_vector},
    };
    for (const auto& [backend_name, make] : backends) {
        for (const auto& [case_name, check] : cases) {
            checks.push_back({std::string(backend_name) + case_name,
                              [make = make, check = check] { return check(make); }});
        }
    }
    return checks;
}

}  // namespace glmchat::test
