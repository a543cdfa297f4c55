#pragma once

namespace glmchat::kernels {

/// Physical cores this process may run on, at least 1. Two hardware threads of a core count once: they share
/// the units the kernels saturate. Where the system does not tell, the number of hardware threads.
int count_physical_cores();

}  // namespace glmchat::kernels
