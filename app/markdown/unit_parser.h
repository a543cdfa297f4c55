#pragma once

#include <QStringView>
#include <vector>

#include "app/markdown/block.h"

namespace glmchat::markdown {

/// A place where a text can be cut without changing what either part means: a new block, or a new item of a
/// list, begins there outside every other block.
struct UnitStart {
    qsizetype position = 0;
    bool inList = false;  ///< an item goes on with the list of the unit before
    bool fence = false;   ///< fenced code begins
};

/// Where units begin in `source`, other than at its own beginning. `source` ends with a whole line.
std::vector<UnitStart> unitStarts(QStringView source);

struct ParsedUnit {
    std::vector<Block> blocks;
    int firstNumber = -1;  ///< of the ordered list the unit begins with; -1 for anything else
};

/// The blocks of one unit.
/// @param firstNumber  the number of its first list item where it goes on with a list; -1: as written
ParsedUnit parseUnit(QStringView source, int firstNumber = -1);

}  // namespace glmchat::markdown
