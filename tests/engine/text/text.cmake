# Tokenizer, stream decoder and prompts against the conformance kit and the repository's own small vocabulary.
glmchat_add_checks(tst_text
    SOURCES
        text/all_text_checks.cpp text/text_checks.h
        text/kit_text_checks.cpp text/golden_text_checks.cpp
        text/tokenizer_file_checks.cpp text/format_checks.cpp
    LIBRARIES glmchat::text nlohmann_json::nlohmann_json fmt::fmt)
