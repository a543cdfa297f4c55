# Tokenizer, prompt format, scheduler and model together, on the built-in guide model.
glmchat_add_checks(tst_chat_engine
    SOURCES chat/chat_engine_checks.cpp chat/response_stream_checks.cpp chat/chat_checks.h
    LIBRARIES glmchat::engine glmchat::model_choice)
