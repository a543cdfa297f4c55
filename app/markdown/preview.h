#pragma once

#include <QString>
#include <QStringView>

namespace glmchat::markdown {

/// An unfinished text as it should look already: a last line that only begins to be a mark is left out, the
/// head of a table has its columns, and emphasis or code that is not closed yet is.
QString previewText(QStringView source);

}  // namespace glmchat::markdown
