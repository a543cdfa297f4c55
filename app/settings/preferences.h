#pragma once

#include <QObject>

#include <QtQml/qqmlregistration.h>

#include "app/settings/settings_file.h"
#include "app/settings/translation.h"

namespace glmchat {

/// What the user prefers about the window. Changes apply at once and are kept in the settings; a stored value
/// that is no choice counts as the default. GUI thread.
class Preferences : public QObject {
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by main")
    Q_PROPERTY(QString language READ language WRITE setLanguage NOTIFY languageChanged)
    Q_PROPERTY(QString theme READ theme WRITE setTheme NOTIFY themeChanged)
    Q_PROPERTY(bool darkMode READ darkMode NOTIFY darkModeChanged)
    Q_PROPERTY(bool enterSends READ enterSends WRITE setEnterSends NOTIFY enterSendsChanged)
    Q_PROPERTY(QString appVersion READ appVersion CONSTANT)

  public:
    /// @param settings must outlive this object
    explicit Preferences(SettingsFile& settings, QObject* parent = nullptr);

    static QStringList languages();  ///< "system", "en", "zh_CN"
    static QStringList themes();     ///< "system", "light", "dark"

    QString language() const { return m_language; }
    QString theme() const { return m_theme; }
    bool darkMode() const;
    bool enterSends() const { return m_enterSends; }
    QString appVersion() const;

    void setLanguage(const QString& language);
    /// For this run only: the command line's choice is not kept.
    void overrideLanguage(const QString& language);
    void setTheme(const QString& theme);
    void setEnterSends(bool enterSends);

    Q_INVOKABLE void copyText(const QString& text) const;

  signals:
    void languageChanged();  ///< the translators are in place
    void themeChanged();
    void darkModeChanged();
    void enterSendsChanged();

  protected:
    bool eventFilter(QObject* object, QEvent* event) override;

  private:
    QString storedChoice(const QString& key, const QStringList& choices) const;

    SettingsFile& m_settings;
    Translation m_translation;
    QString m_language;
    QString m_theme;
    bool m_enterSends;
};

}  // namespace glmchat
