# Checks of sampling, KV cache and scheduler. Paths are relative to tests/engine.
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)

glmchat_add_checks(sampling_test
    SOURCES sampling/sampling_checks.cpp
    LIBRARIES glmchat::model nlohmann_json::nlohmann_json fmt::fmt)

glmchat_add_checks(kv_cache_test
    SOURCES cache/kv_cache_checks.cpp cache/random_operations.cpp
    LIBRARIES glmchat::model fmt::fmt)

glmchat_add_checks(scheduler_test
    SOURCES generate/scheduler_checks.cpp generate/fake_model.cpp
        generate/basic_checks.cpp generate/batching_checks.cpp generate/conversation_checks.cpp
        generate/stop_string_checks.cpp generate/cancel_checks.cpp generate/failure_checks.cpp
    LIBRARIES glmchat::model fmt::fmt)

# The same scheduler over real (tiny) models.
glmchat_add_checks(scheduler_model_test
    SOURCES generate/model_checks.cpp model/model_case.cpp
    LIBRARIES glmchat::model nlohmann_json::nlohmann_json fmt::fmt)

# No Qt: meant for the thread sanitizer.
add_executable(engine_stress stress/stress_main.cpp)
target_link_libraries(engine_stress PRIVATE glmchat_test_support glmchat::model fmt::fmt Threads::Threads)
add_test(NAME engine_stress COMMAND engine_stress 20)
