#pragma once

#include <QString>

namespace glmchat {

/// Renames a file that cannot be used to "<path>.<reason>-20260131-235959" beside it. Nothing is ever
/// deleted.
/// @return the new path; "" when the file could not be renamed
QString moveAside(const QString& path, const QString& reason);

}  // namespace glmchat
