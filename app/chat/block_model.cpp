#include "app/chat/block_model.h"

namespace glmchat {

int BlockModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : m_rowCount;
}

QVariant BlockModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const TextBlock& block = m_splitter.blocks()[static_cast<std::size_t>(index.row())];
    switch (role) {
        case KindRole:
            return block.kind;
        case TextRole:
            return block.text;
        case LanguageRole:
            return block.language;
        case OpenRole:
            return block.open;
        case ContinuedRole:
            return block.continued;
        default:
            return {};
    }
}

QHash<int, QByteArray> BlockModel::roleNames() const {
    return {{KindRole, "kind"},
            {TextRole, "text"},
            {LanguageRole, "language"},
            {OpenRole, "open"},
            {ContinuedRole, "continued"}};
}

void BlockModel::append(const QString& text) {
    const qsizetype oldLastLength = lastLength();
    m_splitter.append(text);
    announce(oldLastLength);
}

void BlockModel::finish() {
    const qsizetype oldLastLength = lastLength();
    m_splitter.finish();
    announce(oldLastLength);
}

qsizetype BlockModel::lastLength() const {
    return m_rowCount == 0 ? 0 : m_splitter.blocks()[static_cast<std::size_t>(m_rowCount - 1)].text.size();
}

void BlockModel::announce(qsizetype oldLastLength) {
    if (m_rowCount > 0) {
        QList<int> roles{OpenRole};
        if (lastLength() != oldLastLength) roles.append(TextRole);
        const QModelIndex last = index(m_rowCount - 1);
        emit dataChanged(last, last, roles);
    }
    const int newCount = static_cast<int>(m_splitter.blocks().size());
    if (newCount == m_rowCount) return;
    beginInsertRows({}, m_rowCount, newCount - 1);
    m_rowCount = newCount;
    endInsertRows();
}

}  // namespace glmchat
