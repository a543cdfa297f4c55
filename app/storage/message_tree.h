#pragma once

#include <QHash>
#include <QList>
#include <QString>
#include <QStringList>

namespace glmchat {

/// The shape of a conversation: which message follows which, and which path through them is shown. A deleted
/// message stays in the tree but is passed over: those that followed it count as its parent's, so that
/// nothing below it becomes unreachable. Values only; no I/O.
class MessageTree {
  public:
    struct Node {
        QString id;
        QString parentId;  ///< "" = a first message
        bool active = false;
        bool deleted = false;
    };
    struct PathStep {
        QString id;
        int siblingIndex = 0;
        int siblingCount = 1;
    };

    /// @param nodes siblings in their order
    explicit MessageTree(const QList<Node>& nodes);

    bool contains(const QString& id) const { return m_indexOf.contains(id); }

    /// From a first message along the active children to the last; where none is active, the newest.
    QList<PathStep> activePath() const;

    /// The messages that can stand in the place of `id`, itself included, in order.
    QStringList choices(const QString& id) const;

    /// The messages that follow `id` directly; "" = the first ones.
    QStringList following(const QString& id) const;

    /// `id` and everything above it in the tree, deleted ones too: what must be active to show it.
    QStringList lineage(const QString& id) const;

  private:
    const Node& node(const QString& id) const { return m_nodes[m_indexOf[id]]; }
    QString shownParent(const QString& id) const;
    QString activeAfter(const QString& id) const;

    const QList<Node> m_nodes;
    QHash<QString, qsizetype> m_indexOf;
    QHash<QString, QStringList> m_children;  ///< by parent
    QHash<QString, QString> m_activeChild;   ///< by parent
};

}  // namespace glmchat
