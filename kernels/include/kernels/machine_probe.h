#pragma once

#include <cstddef>

namespace glmchat::kernels {

/// Bytes per second that `num_threads` threads together read from memory, each over its own `bytes_per_thread` (choose far
/// more than the caches). The best of three passes; takes a fraction of a second. Any thread.
/// This is the limit that decode speed is compared with: every weight is read once per token.
double measure_read_bandwidth(int num_threads, std::size_t bytes_per_thread = std::size_t{256} << 20);

}  // namespace glmchat::kernels
