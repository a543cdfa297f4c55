#pragma once

#include <cstddef>
#include <memory>

#include "kernels/backend.h"

namespace glmchat::test {

/// What a FailingBackend saw; outlives it.
struct AllocationLog {
    int fail_at = 0;  ///< number of the request that throws, from 1; 0 = none
    kernels::BackendError::Kind kind = kernels::BackendError::Kind::kOutOfMemory;
    int num_requests = 0;
    int num_alive = 0;             ///< requests whose memory is still held
    std::size_t last_request = 0;  ///< bytes of the last allocate()
};

/// The reference backend with a memory that can fail: allocate(), prepare_weight() and prepare_vector() count
/// as requests.
std::unique_ptr<kernels::Backend> make_failing_backend(std::shared_ptr<AllocationLog> log);

}  // namespace glmchat::test
