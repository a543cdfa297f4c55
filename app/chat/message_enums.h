#pragma once

#include <QObject>

#include <QtQml/qqmlregistration.h>

// Numbers are stored in the database: never renumber, only append.

namespace glmchat::Author {
Q_NAMESPACE
QML_ELEMENT

enum Value { User, Assistant };
Q_ENUM_NS(Value)

}  // namespace glmchat::Author

namespace glmchat::MessageStatus {
Q_NAMESPACE
QML_ELEMENT

enum Value {
    Complete,
    Pending,    ///< an answer before its first token
    Streaming,  ///< an answer that grows
    Stopped,    ///< by the user, by quitting, or by a crash; the text so far is kept
    Failed,
    Cut,  ///< the longest answer or the context ended it
};
Q_ENUM_NS(Value)

}  // namespace glmchat::MessageStatus
