# The tokenizer reads a file from anywhere, and the stream decoder ids in any order.
foreach(name tokenizer_file stream_decoder)
    glmchat_add_fuzzer(${name} SOURCES fuzz_${name}.cpp text_fuzz_support.h LIBRARIES glmchat::text)
    target_compile_definitions(fuzz_${name} PRIVATE
        GLMCHAT_GOLDEN_TOKENIZER="${PROJECT_SOURCE_DIR}/tests/golden/tokenizer/tokenizer.model")
endforeach()
