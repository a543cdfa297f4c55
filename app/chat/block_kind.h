#pragma once

#include <QObject>

#include <QtQml/qqmlregistration.h>

namespace glmchat::BlockKind {
Q_NAMESPACE
QML_ELEMENT

enum Value { Paragraph, Code };
Q_ENUM_NS(Value)

}  // namespace glmchat::BlockKind
