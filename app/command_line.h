#pragma once

#include <QString>
#include <QStringList>

#include <tl/expected.hpp>

namespace glmchat {

/// What the program was started with.
struct CommandLine {
    QString modelFolder;  ///< "" = last choice, else the guide model
    QString dataFolder;   ///< "" = the user's data folder
    QString language;     ///< "" = as in the settings
    bool selfTest = false;
    bool showVersion = false;
    bool showHelp = false;
};

/// @param arguments without the program's name @return what they ask for, or a sentence that says what is
/// wrong with them
tl::expected<CommandLine, QString> parseCommandLine(const QStringList& arguments);

QString commandLineHelp();

}  // namespace glmchat
