#pragma once

#include <QSet>
#include <QString>

namespace glmchat {

/// A file name (without ending) that every system takes: the title without what Windows, macOS or Linux
/// forbid, without invisible characters, not a device's name, at most 120 bytes of UTF-8. Chinese and other
/// scripts stay.
/// @return never empty
QString safeFileName(const QString& title);

/// "name.ending", or "name (2).ending"… when that is taken, whatever the case of its letters. The name
/// becomes taken.
/// @param taken  names in lower case
QString uniqueFileName(const QString& name, const QString& ending, QSet<QString>& taken);

}  // namespace glmchat
