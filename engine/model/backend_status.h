#pragma once

#include <new>
#include <type_traits>

#include <fmt/format.h>

#include "engine/status.h"
#include "kernels/backend.h"

namespace glmchat {

inline Status to_status(const kernels::BackendError& error) {
    if (error.kind == kernels::BackendError::Kind::kDeviceFailure) {
        return {StatusKind::kDeviceFailure,
                "The compute device failed; load the model again or choose another device.", error.what()};
    }
    return {StatusKind::kOutOfMemory,
            "Not enough memory; choose a lower precision or a shorter context, or close other programs.",
            fmt::format("{} (needed {} bytes, free {} bytes)", error.what(), error.needed_bytes,
                        error.free_bytes)};
}

/// Runs `function`, which returns a Result, and turns what a backend or an allocation throws into its Status.
/// The public functions of engine/model are wrapped in this; nothing above them sees an exception.
template <typename Function>
std::invoke_result_t<Function> with_errors_as_status(Function&& function) {
    try {
        return function();
    } catch (const kernels::BackendError& error) {
        return tl::unexpected<Status>(to_status(error));
    } catch (const std::bad_alloc&) {
        return tl::unexpected<Status>(to_status(
            kernels::BackendError(kernels::BackendError::Kind::kOutOfMemory, "host allocation failed")));
    }
}

}  // namespace glmchat
