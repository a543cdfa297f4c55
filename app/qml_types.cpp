#include "app/qml_types.h"

extern void qml_register_types_GlmChat_App();  // made by qt_add_qml_module

namespace glmchat {

void registerQmlTypes() {
    qml_register_types_GlmChat_App();
}

}  // namespace glmchat
