#include "ui_driver.h"

#include <QAccessible>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QGuiApplication>
#include <QInputMethodEvent>
#include <QMimeData>
#include <QTest>

namespace {

void collect_tab_stops(QQuickItem* item, QList<QObject*>& found) {
    if (!item->isVisible() || !item->isEnabled()) return;
    if (item->activeFocusOnTab()) found.append(item);
    const QList<QQuickItem*> children = item->childItems();
    for (QQuickItem* child : children) collect_tab_stops(child, found);
}

}  // namespace

void UiDriver::preedit(const QString& text) {
    QInputMethodEvent event(text, {});
    QCoreApplication::sendEvent(QGuiApplication::focusObject(), &event);
}

void UiDriver::keyClick(QQuickWindow* window, int key, int modifiers) {
    window->requestActivate();
    QVERIFY(QTest::qWaitForWindowActive(window));
    QTest::keyClick(window, Qt::Key(key), Qt::KeyboardModifiers(modifiers));
}

bool UiDriver::dragOver(QQuickWindow* window, const QList<QUrl>& urls) {
    QMimeData data;
    data.setUrls(urls);
    QDragEnterEvent event(QPoint(window->width() / 2, window->height() / 2), Qt::CopyAction, &data, Qt::LeftButton,
                          Qt::NoModifier);
    QCoreApplication::sendEvent(window, &event);
    return event.isAccepted();
}

void UiDriver::drop(QQuickWindow* window, const QList<QUrl>& urls) {
    QMimeData data;
    data.setUrls(urls);
    QDropEvent event(QPointF(window->width() / 2, window->height() / 2), Qt::CopyAction, &data, Qt::LeftButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(window, &event);
}

QString UiDriver::accessibleName(QQuickItem* item) {
    QAccessibleInterface* interface = QAccessible::queryAccessibleInterface(item);
    return interface ? interface->text(QAccessible::Name) : QString();
}

QList<QObject*> UiDriver::tabStops(QQuickItem* root) {
    QList<QObject*> found;
    collect_tab_stops(root, found);
    return found;
}

QString UiDriver::describe(QObject* item) {
    return QString("%1 '%2'").arg(item->metaObject()->className(), item->property("text").toString());
}
