# The command-line contract, on the program itself.
glmchat_add_qt_test(tst_cli SOURCES cli/tst_cli.cpp)
target_compile_definitions(tst_cli PRIVATE GLMCHAT_CLI="$<TARGET_FILE:glmchat-cli>")
add_dependencies(tst_cli glmchat-cli)
glmchat_add_qt_test(tst_model_choice SOURCES cli/tst_model_choice.cpp LIBRARIES glmchat::model_choice)
