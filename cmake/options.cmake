# What can be switched on and off, and the properties every target shares.
include(CTest)  # defines BUILD_TESTING

option(GLMCHAT_UI "Build the window and everything that needs Qt" ON)
option(GLMCHAT_TEXT "Build tokenizer, prompts and glmchat-cli (needs sentencepiece)" ON)
set(GLMCHAT_CUDA AUTO CACHE STRING "Build the CUDA backend: ON, OFF, or AUTO (when nvcc is found)")
set_property(CACHE GLMCHAT_CUDA PROPERTY STRINGS AUTO ON OFF)
option(GLMCHAT_FUZZ "Build the libFuzzer targets (clang)" OFF)
option(GLMCHAT_BENCH "Build tests/bench" ON)
set(GLMCHAT_SANITIZE "" CACHE STRING "Sanitizers for our own code: address,undefined or thread")
option(GLMCHAT_WERROR "Compiler warnings are errors" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(GLMCHAT_UI AND NOT GLMCHAT_TEXT)
    message(FATAL_ERROR "GLMCHAT_UI needs GLMCHAT_TEXT")
endif()
