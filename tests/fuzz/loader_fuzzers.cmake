# The loader reads files from anywhere: torch .bin files, safetensors headers, config.json.
glmchat_add_fuzzer(pickle_zip SOURCES fuzz_pickle_zip.cpp loader_fuzz_support.h LIBRARIES glmchat::model)
glmchat_add_fuzzer(safetensors SOURCES fuzz_safetensors.cpp loader_fuzz_support.h LIBRARIES glmchat::model)
glmchat_add_fuzzer(config SOURCES fuzz_config.cpp loader_fuzz_support.h LIBRARIES glmchat::model)
