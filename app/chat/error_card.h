#pragma once

#include <QObject>
#include <QString>
#include <deque>
#include <functional>

#include <QtQml/qqmlregistration.h>

namespace glmchat {

/// What the card says. All text is translated.
struct ErrorContent {
    QString
        topic;  ///< a newer message of the same topic replaces an older one ("load", "answer", "storage", …)
    QString title = {};    ///< what happened, a few words
    QString message = {};  ///< a sentence with the numbers and what to do
    QString detail = {};   ///< for "copy details"
    QString actionText = {};
    std::function<void()> action = {};
};

/// The one card for everything that went wrong. Messages of different topics wait for each other; none is
/// lost. GUI thread.
class ErrorCard : public QObject {
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("owned by ChatSession")
    Q_PROPERTY(bool visible READ visible NOTIFY changed)
    Q_PROPERTY(QString title READ title NOTIFY changed)
    Q_PROPERTY(QString message READ message NOTIFY changed)
    Q_PROPERTY(QString detail READ detail NOTIFY changed)
    Q_PROPERTY(QString actionText READ actionText NOTIFY changed)

  public:
    explicit ErrorCard(QObject* parent = nullptr) : QObject(parent) {}

    bool visible() const { return !m_contents.empty(); }
    QString title() const { return current().title; }
    QString message() const { return current().message; }
    QString detail() const { return current().detail; }
    QString actionText() const { return current().actionText; }

    void show(ErrorContent content);
    void clear(const QString& topic);  ///< what it complained about is over

    Q_INVOKABLE void dismiss();
    Q_INVOKABLE void trigger();  ///< dismisses and does the action
    Q_INVOKABLE void copyDetails() const;

  signals:
    void changed();

  private:
    const ErrorContent& current() const;

    std::deque<ErrorContent> m_contents;  ///< the front is shown
};

}  // namespace glmchat
