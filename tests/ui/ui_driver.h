#pragma once

#include <QObject>
#include <QQuickItem>
#include <QQuickWindow>
#include <QUrl>

/// What a Qt Quick test cannot do from QML: input methods, drags from outside, keys for another window, and the
/// accessibility tree. A singleton of the tests, GUI thread only.
class UiDriver : public QObject {
    Q_OBJECT

  public:
    /// Shows `text` as not yet committed in the item that has the focus, as an input method does.
    Q_INVOKABLE static void preedit(const QString& text);

    /// Presses and releases `key` in `window`, which becomes the active one.
    Q_INVOKABLE static void keyClick(QQuickWindow* window, int key, int modifiers = Qt::NoModifier);

    /// Holds `urls` over the middle of `window`. True when the window would take them.
    Q_INVOKABLE static bool dragOver(QQuickWindow* window, const QList<QUrl>& urls);
    Q_INVOKABLE static void drop(QQuickWindow* window, const QList<QUrl>& urls);

    /// The accessible name of an item, "" for none.
    Q_INVOKABLE static QString accessibleName(QQuickItem* item);

    /// Every visible item below `root` that Tab can reach.
    Q_INVOKABLE static QList<QObject*> tabStops(QQuickItem* root);

    /// What an item is called in a message of a failed test.
    Q_INVOKABLE static QString describe(QObject* item);
};
