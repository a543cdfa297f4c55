#include "app/transfer/conversation_document.h"

#include <QHash>
#include <QUuid>
#include <algorithm>

namespace glmchat {
namespace {

QHash<QString, qsizetype> rowsById(const QList<MessageDocument>& messages) {
    QHash<QString, qsizetype> rows;
    rows.reserve(messages.size());
    for (qsizetype row = 0; row < messages.size(); ++row) rows.insert(messages[row].id, row);
    return rows;
}

int giveMissingIds(QList<MessageDocument>& messages) {
    int numNew = 0;
    QHash<QString, qsizetype> seen;
    for (MessageDocument& message : messages) {
        if (message.id.isEmpty() || seen.contains(message.id)) {
            message.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
            ++numNew;
        }
        seen.insert(message.id, 0);
    }
    return numNew;
}

/// Depth of every message; a parent that is missing or lies in a circle is taken away and counted.
QList<qsizetype> measureDepths(QList<MessageDocument>& messages, int& lostParents) {
    constexpr qsizetype kUnknown = -1;
    constexpr qsizetype kOnTheWay = -2;
    const QHash<QString, qsizetype> rows = rowsById(messages);
    QList<qsizetype> depths(messages.size(), kUnknown);
    for (qsizetype row = 0; row < messages.size(); ++row) {
        QList<qsizetype> way;
        qsizetype depth = -1;
        for (qsizetype current = row;; current = rows.value(messages[current].parentId)) {
            if (depths[current] >= 0) {
                depth = depths[current];
                break;
            }
            depths[current] = kOnTheWay;
            way << current;
            const QString& parentId = messages[current].parentId;
            if (parentId.isEmpty()) break;
            const qsizetype parent = rows.value(parentId, kUnknown);
            if (parent != kUnknown && depths[parent] != kOnTheWay) continue;
            messages[current].parentId.clear();
            ++lostParents;
            break;
        }
        for (auto step = way.crbegin(); step != way.crend(); ++step) depths[*step] = ++depth;
    }
    return depths;
}

/// @return how many messages stood before their parent
int sortParentsFirst(QList<MessageDocument>& messages, const QList<qsizetype>& depths) {
    const QHash<QString, qsizetype> rows = rowsById(messages);
    int numMisplaced = 0;
    for (qsizetype row = 0; row < messages.size(); ++row) {
        if (rows.value(messages[row].parentId, -1) > row) ++numMisplaced;
    }
    if (numMisplaced == 0) return 0;
    QList<qsizetype> order(messages.size());
    for (qsizetype row = 0; row < order.size(); ++row) order[row] = row;
    std::stable_sort(order.begin(), order.end(),
                     [&](qsizetype a, qsizetype b) { return depths[a] < depths[b]; });
    QList<MessageDocument> sorted;
    sorted.reserve(messages.size());
    for (const qsizetype row : order) sorted << std::move(messages[row]);
    messages = std::move(sorted);
    return numMisplaced;
}

/// The last active sibling stays the active one; where none is, the last sibling becomes it.
int settleActives(QList<MessageDocument>& messages) {
    QHash<QString, qsizetype> chosen;  // by parent
    for (qsizetype row = 0; row < messages.size(); ++row) {
        const auto found = chosen.constFind(messages[row].parentId);
        const bool replaces =
            found == chosen.constEnd() || messages[row].active || !messages[found.value()].active;
        if (replaces) chosen.insert(messages[row].parentId, row);
    }
    int numChanged = 0;
    for (qsizetype row = 0; row < messages.size(); ++row) {
        const bool active = chosen.value(messages[row].parentId) == row;
        numChanged += active != messages[row].active ? 1 : 0;
        messages[row].active = active;
    }
    return numChanged;
}

}  // namespace

QList<qsizetype> activePath(const ConversationDocument& conversation) {
    QList<qsizetype> path;
    QString parentId;
    for (qsizetype row = 0; row < conversation.messages.size(); ++row) {
        const MessageDocument& message = conversation.messages[row];
        if (!message.active || message.parentId != parentId) continue;
        path << row;
        parentId = message.id;
    }
    return path;
}

QList<SiblingPlace> siblingPlaces(const ConversationDocument& conversation) {
    const QHash<QString, qsizetype> rows = rowsById(conversation.messages);
    QHash<QString, qsizetype> counts;
    QList<SiblingPlace> places;
    for (const MessageDocument& message : conversation.messages) {
        places << SiblingPlace{counts[message.parentId]++, 1, rows.value(message.parentId, -1)};
    }
    for (qsizetype row = 0; row < places.size(); ++row) {
        places[row].count = counts.value(conversation.messages[row].parentId);
    }
    return places;
}

TreeRepairs repairTree(ConversationDocument& conversation) {
    TreeRepairs repairs;
    QList<MessageDocument>& messages = conversation.messages;
    repairs.newIds = giveMissingIds(messages);
    const QList<qsizetype> depths = measureDepths(messages, repairs.lostParents);
    repairs.movedMessages = sortParentsFirst(messages, depths);
    repairs.changedActives = settleActives(messages);
    return repairs;
}

}  // namespace glmchat
