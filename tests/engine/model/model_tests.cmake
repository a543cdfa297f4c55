# The model loaded and run without a scheduler, against our golden models and, where it is there, the conformance kit.
find_package(nlohmann_json REQUIRED)
find_package(fmt REQUIRED)

glmchat_add_checks(model_test
    SOURCES
        model/all_model_checks.cpp
        model/conversion_checks.cpp
        model/damaged_folder.cpp
        model/failing_backend.cpp
        model/failure_checks.cpp
        model/forward_checks.cpp
        model/loading_checks.cpp
        model/model_case.cpp
        model/model_runner.cpp
        model/synthetic_checks.cpp
    LIBRARIES glmchat::model nlohmann_json::nlohmann_json fmt::fmt)
