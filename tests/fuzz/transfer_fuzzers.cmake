# Conversations come from files of other programs. Needs Qt, so the fuzz preset leaves it out unless GLMCHAT_UI is ON.
if(GLMCHAT_UI)
    glmchat_add_fuzzer(import SOURCES fuzz_import.cpp LIBRARIES glmchat::transfer)
endif()
