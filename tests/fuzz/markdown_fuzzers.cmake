# An answer is text from a model, and a conversation file text from anywhere.
if(TARGET glmchat_markdown)
    glmchat_add_fuzzer(markdown SOURCES fuzz_markdown.cpp LIBRARIES glmchat::markdown)
endif()
