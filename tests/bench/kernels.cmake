# Every op of the cpu backend at the shapes of ChatGLM2-6B. Run: kernels_bench [--benchmark_filter=...]
find_package(benchmark REQUIRED)
add_executable(kernels_bench
    ${CMAKE_CURRENT_LIST_DIR}/kernels_bench.cpp
    ${CMAKE_CURRENT_LIST_DIR}/kernels_bench_peak.cpp ${CMAKE_CURRENT_LIST_DIR}/kernels_bench_peak.h)
# The yardstick runs on the machine that builds it, so it may use all that machine has.
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/kernels_bench_peak.cpp PROPERTIES COMPILE_OPTIONS "-O3;-march=native")
target_link_libraries(kernels_bench PRIVATE glmchat_compile_options glmchat::kernels benchmark::benchmark)
