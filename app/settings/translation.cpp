#include "app/settings/translation.h"

#include <QCoreApplication>
#include <QLibraryInfo>
#include <QLocale>

namespace glmchat {

Translation::~Translation() {
    removeTranslators();
}

void Translation::use(const QString& language) {
    const QLocale locale = language == u"system" ? QLocale::system() : QLocale(language);
    const bool chinese = locale.language() == QLocale::Chinese;
    removeTranslators();
    QLocale::setDefault(locale);
    // One Chinese translation serves all regions. The source texts are English; glmchat_en has their plurals.
    const QString file =
        chinese ? QStringLiteral(":/i18n/glmchat_zh_CN.qm") : QStringLiteral(":/i18n/glmchat_en.qm");
    if (m_application.load(file)) QCoreApplication::installTranslator(&m_application);
    if (!chinese) return;
    if (m_qt.load(QStringLiteral("qtbase_zh_CN"), QLibraryInfo::path(QLibraryInfo::TranslationsPath))) {
        QCoreApplication::installTranslator(&m_qt);
    }
}

void Translation::removeTranslators() {
    QCoreApplication::removeTranslator(&m_application);
    QCoreApplication::removeTranslator(&m_qt);
}

}  // namespace glmchat
