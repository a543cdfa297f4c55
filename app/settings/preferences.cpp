#include "app/settings/preferences.h"

#include <QClipboard>
#include <QEvent>
#include <QGuiApplication>
#include <QPalette>

namespace glmchat {
namespace {

const QString kLanguageKey = QStringLiteral("language");
const QString kThemeKey = QStringLiteral("theme");
const QString kEnterSendsKey = QStringLiteral("enterSends");

bool systemIsDark() {
    const QPalette palette = QGuiApplication::palette();
    return palette.color(QPalette::WindowText).lightness() > palette.color(QPalette::Window).lightness();
}

}  // namespace

Preferences::Preferences(SettingsFile& settings, QObject* parent)
    : QObject(parent),
      m_settings(settings),
      m_language(storedChoice(kLanguageKey, languages())),
      m_theme(storedChoice(kThemeKey, themes())),
      m_enterSends(settings.value(kEnterSendsKey).toBool(true)) {
    m_translation.use(m_language);
    qApp->installEventFilter(this);
}

QStringList Preferences::languages() {
    return {QStringLiteral("system"), QStringLiteral("en"), QStringLiteral("zh_CN")};
}

QStringList Preferences::themes() {
    return {QStringLiteral("system"), QStringLiteral("light"), QStringLiteral("dark")};
}

QString Preferences::storedChoice(const QString& key, const QStringList& choices) const {
    const QString stored = m_settings.value(key).toString();
    return choices.contains(stored) ? stored : choices.first();
}

bool Preferences::darkMode() const {
    return m_theme == u"system" ? systemIsDark() : m_theme == u"dark";
}

QString Preferences::appVersion() const {
    return QCoreApplication::applicationVersion();
}

void Preferences::setLanguage(const QString& language) {
    if (language == m_language || !languages().contains(language)) return;
    m_settings.setValue(kLanguageKey, language);
    overrideLanguage(language);
}

void Preferences::overrideLanguage(const QString& language) {
    m_language = language;
    m_translation.use(language);
    emit languageChanged();
}

void Preferences::setTheme(const QString& theme) {
    if (theme == m_theme || !themes().contains(theme)) return;
    const bool wasDark = darkMode();
    m_theme = theme;
    m_settings.setValue(kThemeKey, theme);
    emit themeChanged();
    if (darkMode() != wasDark) emit darkModeChanged();
}

void Preferences::setEnterSends(bool enterSends) {
    if (enterSends == m_enterSends) return;
    m_enterSends = enterSends;
    m_settings.setValue(kEnterSendsKey, enterSends);
    emit enterSendsChanged();
}

void Preferences::copyText(const QString& text) const {
    QGuiApplication::clipboard()->setText(text);
}

/// Qt 6.4 tells of a switch of the system's colour scheme only as a new palette.
bool Preferences::eventFilter(QObject* object, QEvent* event) {
    if (event->type() == QEvent::ApplicationPaletteChange && object == qApp) emit darkModeChanged();
    return QObject::eventFilter(object, event);
}

}  // namespace glmchat
