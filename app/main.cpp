#include <QDir>
#include <QGuiApplication>
#include <QQmlApplicationEngine>
#include <QQuickStyle>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "app/chat/chat_session.h"
#include "app/command_line.h"
#include "app/inference/local_engine.h"
#include "app/inference/model_box.h"
#include "app/model_choice/model_choice.h"
#include "app/qml_types.h"
#include "app/settings/preferences.h"

namespace glmchat {
namespace {

using namespace std::chrono_literals;

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;
constexpr auto kShutDownTime = 5s;  // for the disk and for the engine, when the window is closed

void print(std::FILE* file, const QString& text) {
    std::fputs(qUtf8Printable(text), file);
}

/// Folders of this run.
struct Places {
    QString configFolder;
    QString dataFolder;
    QString guideModelFolder;
};

QString fromPath(const std::filesystem::path& path) {
    return QString::fromStdU16String(path.u16string());
}

QString chosenDataFolder(const CommandLine& commandLine) {
    if (!commandLine.dataFolder.isEmpty()) return QDir(commandLine.dataFolder).absolutePath();
    const QString fromEnvironment = qEnvironmentVariable("GLMCHAT_DATA_DIR");
    if (!fromEnvironment.isEmpty()) return QDir(fromEnvironment).absolutePath();
    return QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation);
}

Places usersPlaces(const CommandLine& commandLine) {
    return {fromPath(config_folder()), chosenDataFolder(commandLine), fromPath(guide_model_folder())};
}

bool hasDisplay() {
#if defined(Q_OS_UNIX) && !defined(Q_OS_DARWIN)
    for (const char* variable : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
        if (!qEnvironmentVariableIsEmpty(variable)) return true;
    }
    return false;
#else
    return true;
#endif
}

/// All objects of the running window and how they hang together. Members are destroyed last to first: the QML
/// engine before what it shows.
class Window {
  public:
    Window(const CommandLine& commandLine, const Places& places)
        : m_commandLine(commandLine),
          m_places(places),
          m_settings(places.configFolder + QStringLiteral("/settings.json")),
          m_preferences(m_settings),
          m_parameters(m_settings),
          m_engine(std::make_unique<LocalEngine>()),
          m_session(m_engine, m_storage, m_parameters),
          m_modelBox(m_engine, m_parameters, *m_session.error(),
                     {places.configFolder, places.guideModelFolder}) {
        if (!commandLine.language.isEmpty()) m_preferences.overrideLanguage(commandLine.language);
        connectLanguage();
        connectSettings();
    }

    /// @return false when there is no window; warnings of QML are counted
    bool loadQml() {
        QObject::connect(&m_qml, &QQmlEngine::warnings, &m_qml,
                         [this](const QList<QQmlError>& warnings) { m_numWarnings += warnings.size(); });
        m_qml.addImportPath(QStringLiteral("qrc:/"));
        m_qml.setInitialProperties({{QStringLiteral("session"), QVariant::fromValue(&m_session)},
                                    {QStringLiteral("modelBox"), QVariant::fromValue(&m_modelBox)},
                                    {QStringLiteral("parameters"), QVariant::fromValue(&m_parameters)},
                                    {QStringLiteral("preferences"), QVariant::fromValue(&m_preferences)}});
        m_qml.load(QUrl(QStringLiteral("qrc:/GlmChat/Ui/Main.qml")));
        return !m_qml.rootObjects().isEmpty();
    }

    qsizetype numWarnings() const { return m_numWarnings; }

    void start() {
        m_storage.open(m_places.dataFolder);
        m_modelBox.loadAtStart(m_commandLine.modelFolder);
    }

    /// @return false when a thread is still busy and the process must end without destructors
    bool shutDown() {
        m_session.shutDown();
        m_modelBox.shutDown();
        m_settings.flush();
        const bool saved = m_storage.shutDown(kShutDownTime);
        return m_engine.shutDown(kShutDownTime) && saved;
    }

  private:
    void connectLanguage() {
        QObject::connect(&m_preferences, &Preferences::languageChanged, &m_qml, [this] {
            m_qml.retranslate();
            m_session.retranslate();
            m_modelBox.retranslate();
            m_parameters.retranslate();
        });
    }

    void connectSettings() {
        ErrorCard& card = *m_session.error();
        if (const QString moved = m_settings.movedAside(); !moved.isEmpty()) {
            card.show(
                {QStringLiteral("settings"), QCoreApplication::translate("main", "The settings were damaged"),
                 QCoreApplication::translate("main", "The defaults are used. The old file was kept as %1.")
                     .arg(moved)});
        }
        QObject::connect(&m_settings, &SettingsFile::writeFailed, &card,
                         [&card](const QString& path, const QString& reason) {
                             card.show({QStringLiteral("settings"),
                                        QCoreApplication::translate("main", "The settings cannot be saved"),
                                        QCoreApplication::translate("main", "%1: %2").arg(path, reason)});
                         });
    }

    const CommandLine m_commandLine;
    const Places m_places;
    SettingsFile m_settings;
    Preferences m_preferences;
    ParameterModel m_parameters;
    StorageClient m_storage;
    EngineClient m_engine;
    ChatSession m_session;
    ModelBox m_modelBox;
    qsizetype m_numWarnings = 0;
    QQmlApplicationEngine m_qml;
};

int runWindow(const CommandLine& commandLine) {
    Window window(commandLine, usersPlaces(commandLine));
    if (!window.loadQml()) {
        print(stderr,
              QStringLiteral("glmchat: the window could not be loaded; the messages above say why.\n"));
        return kExitFailed;
    }
    window.start();
    const int exitCode = QGuiApplication::exec();
    // Reading a huge file or a hung disk can keep a thread busy; everything that matters was written or
    // cannot be.
    if (!window.shutDown()) std::_Exit(exitCode);
    return exitCode;
}

/// Loads the window in empty folders, so that neither the user's files nor a model are touched.
int runSelfTest(const CommandLine& commandLine) {
    const QTemporaryDir folder;
    Window window(commandLine, {folder.path(), folder.path(), {}});
    if (!window.loadQml()) return kExitFailed;
    QCoreApplication::processEvents();
    return window.numWarnings() == 0 ? EXIT_SUCCESS : kExitFailed;
}

void describeApplication() {
    QCoreApplication::setApplicationName(QStringLiteral("glmchat"));
    QCoreApplication::setApplicationVersion(QStringLiteral(GLMCHAT_VERSION));
    QGuiApplication::setDesktopFileName(QStringLiteral("glmchat"));
    QGuiApplication::setHighDpiScaleFactorRoundingPolicy(Qt::HighDpiScaleFactorRoundingPolicy::PassThrough);
    QQuickStyle::setStyle(QStringLiteral("Basic"));
}

int runProgram(int argc, char** argv) {
    QStringList arguments;
    for (int i = 1; i < argc; ++i) arguments << QString::fromLocal8Bit(argv[i]);
    const auto commandLine = parseCommandLine(arguments);
    if (!commandLine) {
        print(stderr, QStringLiteral("glmchat: %1\n").arg(commandLine.error()));
        return kExitUsage;
    }
    if (commandLine->showHelp) return print(stdout, commandLineHelp()), EXIT_SUCCESS;
    if (commandLine->showVersion)
        return print(stdout, QStringLiteral("glmchat " GLMCHAT_VERSION "\n")), EXIT_SUCCESS;
    if (!hasDisplay()) {
        if (!commandLine->selfTest) {
            print(stderr,
                  QStringLiteral(
                      "glmchat: there is no display (DISPLAY and WAYLAND_DISPLAY are empty); the chat in "
                      "the terminal is: glmchat-cli chat\n"));
            return kExitUsage;
        }
        qputenv("QT_QPA_PLATFORM", "offscreen");
    }
    describeApplication();
    const QGuiApplication application(argc, argv);
    registerQmlTypes();
    return commandLine->selfTest ? runSelfTest(*commandLine) : runWindow(*commandLine);
}

}  // namespace
}  // namespace glmchat

int main(int argc, char** argv) {
    return glmchat::runProgram(argc, argv);
}
