# Checks of the loader. Paths are relative to tests/engine.
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)

glmchat_add_checks(loader_test
    SOURCES
        loader/all_checks.cpp loader/all_checks.h
        loader/config_checks.cpp
        loader/folder_checks.cpp
        loader/golden_checks.cpp
        loader/kit_checks.cpp
        loader/loader_test_support.cpp loader/loader_test_support.h
        loader/safetensors_checks.cpp
        loader/torch_checks.cpp
    LIBRARIES glmchat::model nlohmann_json::nlohmann_json fmt::fmt)
