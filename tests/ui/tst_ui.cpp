#include <QAccessible>
#include <QQmlEngine>
#include <QtQuickTest>

#include "ui_driver.h"

extern void qml_register_types_GlmChat_App();

/// Runs every tst_*.qml of this folder against the stand-ins of GlmChat.App.
class Setup : public QObject {
    Q_OBJECT

  public slots:
    void applicationAvailable() {
        QAccessible::setActive(true);
        qml_register_types_GlmChat_App();
        qmlRegisterSingletonType<UiDriver>("GlmChat.Tests", 1, 0, "UiDriver",
                                           [](QQmlEngine*, QJSEngine*) { return new UiDriver; });
    }
    void qmlEngineAvailable(QQmlEngine* engine) { engine->addImportPath("qrc:/"); }
};

QUICK_TEST_MAIN_WITH_SETUP(glmchat_ui, Setup)

#include "tst_ui.moc"
