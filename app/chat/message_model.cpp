#include "app/chat/message_model.h"

#include <QQmlEngine>

#include "app/chat/answer_text.h"

namespace glmchat {
namespace {

bool isRunning(MessageStatus::Value status) {
    return status == MessageStatus::Pending || status == MessageStatus::Streaming;
}

}  // namespace

int MessageModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : size();
}

QVariant MessageModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid)) return {};
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    switch (role) {
        case MessageIdRole:
            return row.record.id;
        case AuthorRole:
            return row.record.author;
        case TextRole:
            return row.record.text;
        case BlocksRole:
            return QVariant::fromValue<QObject*>(blocksOf(row));
        case StatusRole:
            return row.record.status;
        case StatusTextRole:
            return statusText(row.record);
        case CaptionTextRole:
            return captionText(row.record);
        case IsLastRole:
            return index.row() == size() - 1;
        default:
            return {};
    }
}

QHash<int, QByteArray> MessageModel::roleNames() const {
    return {{MessageIdRole, "messageId"},     {AuthorRole, "author"}, {TextRole, "text"},
            {BlocksRole, "blocks"},           {StatusRole, "status"}, {StatusTextRole, "statusText"},
            {CaptionTextRole, "captionText"}, {IsLastRole, "isLast"}};
}

void MessageModel::append(const MessageRecord& record) {
    beginInsertRows({}, size(), size());
    m_rows.push_back({record});
    endInsertRows();
    if (size() > 1) emit dataChanged(index(size() - 2), index(size() - 2), {IsLastRole});
}

void MessageModel::removeLast() {
    beginRemoveRows({}, size() - 1, size() - 1);
    const Row row = std::move(m_rows.back());
    m_rows.pop_back();
    endRemoveRows();
    if (size() > 0) lastChanged({IsLastRole});
}

void MessageModel::reset(const QList<MessageRecord>& records) {
    beginResetModel();
    m_rows.clear();
    for (const MessageRecord& record : records) m_rows.push_back({record});
    endResetModel();
}

void MessageModel::appendText(const QString& text) {
    Row& last = m_rows.back();
    last.record.text += text;
    if (last.blocks) last.blocks->append(text);
    lastChanged({TextRole});
}

void MessageModel::setLastText(const QString& text) {
    Row& last = m_rows.back();
    if (text.startsWith(last.record.text)) {
        if (text.size() > last.record.text.size()) appendText(text.mid(last.record.text.size()));
        return;
    }
    last.record.text = text;
    last.blocks.reset();
    lastChanged({TextRole, BlocksRole});
}

void MessageModel::updateLast(MessageStatus::Value status, const AnswerRecord& answer) {
    Row& last = m_rows.back();
    const bool ends = isRunning(last.record.status) && !isRunning(status);
    last.record.status = status;
    last.record.answer = answer;
    if (ends && last.blocks) last.blocks->finish();
    lastChanged({StatusRole, StatusTextRole, CaptionTextRole});
}

void MessageModel::retranslate() {
    if (m_rows.empty()) return;
    emit dataChanged(index(0), index(size() - 1), {StatusTextRole, CaptionTextRole});
}

BlockModel* MessageModel::blocksOf(const Row& row) {
    if (!row.blocks) {
        row.blocks.reset(new BlockModel);
        QQmlEngine::setObjectOwnership(row.blocks.get(), QQmlEngine::CppOwnership);
        row.blocks->append(row.record.text);
        if (!isRunning(row.record.status)) row.blocks->finish();
    }
    return row.blocks.get();
}

void MessageModel::lastChanged(const QList<int>& roles) {
    emit dataChanged(index(size() - 1), index(size() - 1), roles);
}

}  // namespace glmchat
