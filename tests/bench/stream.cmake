# The window under a fast stream of tokens. Prints a table, asserts nothing.
if(GLMCHAT_UI)
    add_executable(stream_bench ${CMAKE_CURRENT_LIST_DIR}/stream_bench.cpp)
    target_link_libraries(stream_bench PRIVATE
        glmchat_compile_options glmchat::app glmchat::fake_engine glmchat_ui Qt6::Quick Qt6::QuickControls2)
endif()
