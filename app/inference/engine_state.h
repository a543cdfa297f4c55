#pragma once

#include <QObject>

#include <QtQml/qqmlregistration.h>

namespace glmchat::EngineState {
Q_NAMESPACE
QML_ELEMENT

/// What the engine is doing; the only state the window asks for.
enum Value {
    NoModel,
    Loading,
    Ready,
    Prefilling,  ///< reading the prompt, no token yet
    Decoding,    ///< writing the answer
    Stopping,    ///< Stop was pressed, the end has not come yet
    Failed,      ///< loading failed, no model
};
Q_ENUM_NS(Value)

}  // namespace glmchat::EngineState
