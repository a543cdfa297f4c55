#include "app/command_line.h"

#include <QCommandLineParser>

#include "app/settings/preferences.h"

namespace glmchat {

// Not translated: terminals and scripts read these, and there is no translator yet when they are needed.

tl::expected<CommandLine, QString> parseCommandLine(const QStringList& arguments) {
    const QCommandLineOption model(QStringLiteral("model"), {}, QStringLiteral("DIR"));
    const QCommandLineOption data(QStringLiteral("data-dir"), {}, QStringLiteral("DIR"));
    const QCommandLineOption language(QStringLiteral("language"), {}, QStringLiteral("LANGUAGE"));
    const QCommandLineOption selfTest(QStringLiteral("self-test"));
    const QCommandLineOption version(QStringList{QStringLiteral("v"), QStringLiteral("version")});
    const QCommandLineOption help(QStringList{QStringLiteral("h"), QStringLiteral("help")});
    QCommandLineParser parser;
    parser.addOptions({model, data, language, selfTest, version, help});
    if (!parser.parse(QStringList{QStringLiteral("glmchat")} + arguments))
        return tl::unexpected(parser.errorText());
    if (!parser.positionalArguments().isEmpty()) {
        return tl::unexpected(
            QStringLiteral("Unknown argument: %1").arg(parser.positionalArguments().first()));
    }
    CommandLine commandLine;
    commandLine.modelFolder = parser.value(model);
    commandLine.dataFolder = parser.value(data);
    commandLine.language = parser.value(language);
    commandLine.selfTest = parser.isSet(selfTest);
    commandLine.showVersion = parser.isSet(version);
    commandLine.showHelp = parser.isSet(help);
    if (!commandLine.language.isEmpty() && !Preferences::languages().contains(commandLine.language)) {
        return tl::unexpected(
            QStringLiteral("--language takes %1").arg(Preferences::languages().join(QStringLiteral(", "))));
    }
    return commandLine;
}

QString commandLineHelp() {
    return QStringLiteral(R"(Usage: glmchat [OPTION]...
A local chat window for the ChatGLM family. In the terminal: glmchat-cli chat

  --model DIR          load the model in this folder
  --data-dir DIR       keep conversations in this folder (or set GLMCHAT_DATA_DIR)
  --language LANGUAGE  language of the window: system, en or zh_CN
  --self-test          load the window offscreen and quit; exit code 0 when all is well
  -v, --version        print the version
  -h, --help           print this help
)");
}

}  // namespace glmchat
