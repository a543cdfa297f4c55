#include "app/storage/message_tree.h"

namespace glmchat {

MessageTree::MessageTree(const QList<Node>& nodes) : m_nodes(nodes) {
    for (qsizetype index = 0; index < m_nodes.size(); ++index) {
        const Node& node = m_nodes[index];
        m_indexOf.insert(node.id, index);
        m_children[node.parentId].append(node.id);
        if (node.active) m_activeChild.insert(node.parentId, node.id);
    }
}

QList<MessageTree::PathStep> MessageTree::activePath() const {
    QList<PathStep> path;
    QString id;
    for (QStringList next = following(id); !next.isEmpty(); next = following(id)) {
        const QString active = activeAfter(id);
        id = active.isEmpty() ? next.last() : active;
        path.append({id, static_cast<int>(next.indexOf(id)), static_cast<int>(next.size())});
    }
    return path;
}

QStringList MessageTree::choices(const QString& id) const {
    return contains(id) ? following(shownParent(id)) : QStringList();
}

/// Goes down through deleted messages, depth first, without recursion: a long conversation may be deleted
/// message by message.
QStringList MessageTree::following(const QString& id) const {
    QStringList shown;
    QStringList open = m_children.value(id);
    while (!open.isEmpty()) {
        const QString child = open.takeFirst();
        if (node(child).deleted) {
            open = m_children.value(child) + open;
        } else {
            shown.append(child);
        }
    }
    return shown;
}

QStringList MessageTree::lineage(const QString& id) const {
    QStringList ids;
    for (QString at = id; contains(at) && ids.size() < m_nodes.size(); at = node(at).parentId) ids.append(at);
    return ids;
}

QString MessageTree::shownParent(const QString& id) const {
    QString parent = node(id).parentId;
    while (contains(parent) && node(parent).deleted) parent = node(parent).parentId;
    return parent;
}

/// @return "" when the active children end at a deleted message
QString MessageTree::activeAfter(const QString& id) const {
    QString child = m_activeChild.value(id);
    while (!child.isEmpty() && node(child).deleted) child = m_activeChild.value(child);
    return child;
}

}  // namespace glmchat
