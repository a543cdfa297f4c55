#pragma once

namespace glmchat::bench {

/// float32 multiply-adds per second, counted as two operations each, that `num_threads` threads reach
/// together when nothing but registers is touched, in the widest vectors of this machine.
double measure_fma_peak(int num_threads);

}  // namespace glmchat::bench
