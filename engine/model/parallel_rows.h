#pragma once

#include <cstdint>
#include <functional>

namespace glmchat {

/// Calls work(first, last) for ranges that together cover rows [0, num_rows), on all processors at once, and
/// returns when all are done. For the one-time work of loading; a forward pass uses the backend's own
/// threads. What `work` throws is thrown again here (one of them).
void parallel_rows(std::int64_t num_rows,
                   const std::function<void(std::int64_t first, std::int64_t last)>& work);

}  // namespace glmchat
