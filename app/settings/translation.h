#pragma once

#include <QString>
#include <QTranslator>

namespace glmchat {

/// The translators of the running program. GUI thread.
class Translation {
  public:
    Translation() = default;
    ~Translation();
    Translation(const Translation&) = delete;
    Translation& operator=(const Translation&) = delete;

    /// @param language "system", "en" or "zh_CN". Numbers follow the language too.
    void use(const QString& language);

  private:
    void removeTranslators();

    QTranslator m_application;
    QTranslator m_qt;  ///< dialogs
};

}  // namespace glmchat
