#pragma once

#include <QObject>

#include <QtQml/qqmlregistration.h>

namespace glmchat::ParameterKind {
Q_NAMESPACE
QML_ELEMENT

enum Value {
    Slider,
    Seed,  ///< a whole number, or -1 = drawn afresh for each answer
};
Q_ENUM_NS(Value)

}  // namespace glmchat::ParameterKind
