# Export and import of conversations.
glmchat_add_library(glmchat_transfer_samples)
target_sources(glmchat_transfer_samples PRIVATE transfer/sample_conversations.cpp transfer/sample_conversations.h)
target_link_libraries(glmchat_transfer_samples PUBLIC glmchat::transfer)
foreach(name tst_transfer_json tst_transfer_import tst_transfer_export)
    glmchat_add_qt_test(${name} SOURCES transfer/${name}.cpp LIBRARIES glmchat_transfer_samples)
endforeach()
