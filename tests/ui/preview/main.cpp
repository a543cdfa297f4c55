// Shows the window on scripted data, to look at: glmchat_ui_preview [--theme dark] [--language zh_CN] [--size 800x600] [scenario]
#include <QCommandLineParser>
#include <QGuiApplication>
#include <QQmlApplicationEngine>
#include <QTranslator>

extern void qml_register_types_GlmChat_App();

int main(int argc, char* argv[]) {
    QGuiApplication app(argc, argv);
    QCommandLineParser arguments;
    arguments.addHelpOption();
    arguments.addOptions({{"theme", "light or dark", "theme", "light"},
                          {"translation", "a .qm file", "file"},
                          {"size", "width x height", "size", "1280x800"}});
    arguments.addPositionalArgument("scenario", "one of the scenarios of Preview.qml", "[scenario]");
    arguments.process(app);

    QTranslator translator;
    if (translator.load(arguments.value("translation"))) QCoreApplication::installTranslator(&translator);

    qml_register_types_GlmChat_App();
    QQmlApplicationEngine engine;
    engine.addImportPath("qrc:/");
    const QStringList size = arguments.value("size").split('x');
    engine.setInitialProperties({{"scenario", arguments.positionalArguments().value(0, "conversation")},
                                 {"theme", arguments.value("theme")},
                                 {"width", size.value(0).toInt()},
                                 {"height", size.value(1).toInt()}});
    engine.load(QUrl("qrc:/Preview.qml"));
    return engine.rootObjects().isEmpty() ? 1 : QGuiApplication::exec();
}
