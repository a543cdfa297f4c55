#pragma once

#include <QObject>
#include <QtQml/qqmlregistration.h>

// The enums of GlmChat.App, as its QML stand-ins use them. Keep equal to app/.
namespace EngineState {
Q_NAMESPACE
QML_ELEMENT
enum Value { NoModel, Loading, Ready, Prefilling, Decoding, Stopping, Failed };
Q_ENUM_NS(Value)
}  // namespace EngineState

namespace Author {
Q_NAMESPACE
QML_ELEMENT
enum Value { User, Assistant };
Q_ENUM_NS(Value)
}  // namespace Author

namespace MessageStatus {
Q_NAMESPACE
QML_ELEMENT
enum Value { Complete, Pending, Streaming, Stopped, Failed, Cut };
Q_ENUM_NS(Value)
}  // namespace MessageStatus

namespace BlockKind {
Q_NAMESPACE
QML_ELEMENT
enum Value { Paragraph, Code };
Q_ENUM_NS(Value)
}  // namespace BlockKind

namespace ParameterKind {
Q_NAMESPACE
QML_ELEMENT
enum Value { Slider, Seed };
Q_ENUM_NS(Value)
}  // namespace ParameterKind
