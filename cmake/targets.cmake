# One interface target carries what all our own code is compiled with.
add_library(glmchat_compile_options INTERFACE)
target_compile_options(glmchat_compile_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
    # False alarms on std::string concatenation at -O3 (GCC bug 105651).
    target_compile_options(glmchat_compile_options INTERFACE -Wno-restrict)
endif()
if(GLMCHAT_WERROR)
    target_compile_options(glmchat_compile_options INTERFACE -Werror)
endif()
if(GLMCHAT_SANITIZE)
    target_compile_options(glmchat_compile_options INTERFACE
        -fsanitize=${GLMCHAT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
    target_link_options(glmchat_compile_options INTERFACE -fsanitize=${GLMCHAT_SANITIZE})
endif()
if(GLMCHAT_FUZZ)
    target_compile_options(glmchat_compile_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(glmchat_compile_options INTERFACE ${PROJECT_SOURCE_DIR})

# glmchat_add_library(name): a static library of ours; sources come from its subfolders through target_sources().
function(glmchat_add_library name)
    add_library(${name} STATIC)
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    string(REGEX REPLACE "^glmchat_" "" short_name ${name})
    add_library(glmchat::${short_name} ALIAS ${name})
    target_link_libraries(${name} PUBLIC glmchat_compile_options)
endfunction()

find_package(Threads REQUIRED)
