#pragma once

#include <QAbstractListModel>
#include <memory>
#include <vector>

#include <QtQml/qqmlregistration.h>

#include "app/chat/block_model.h"
#include "app/storage/records.h"

namespace glmchat {

/// The messages of the active path, oldest first. GUI thread.
class MessageModel : public QAbstractListModel {
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("owned by ChatSession")

  public:
    enum Role {
        MessageIdRole = Qt::UserRole + 1,
        AuthorRole,       ///< Author::Value
        TextRole,         ///< the whole source text
        BlocksRole,       ///< BlockModel*, owned by this model
        StatusRole,       ///< MessageStatus::Value
        StatusTextRole,   ///< translated note ("Stopped"), else ""
        CaptionTextRole,  ///< translated numbers of a finished answer, else ""
        IsLastRole,
    };

    explicit MessageModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    int size() const { return static_cast<int>(m_rows.size()); }
    const MessageRecord& at(int row) const { return m_rows[static_cast<std::size_t>(row)].record; }
    const MessageRecord& last() const { return m_rows.back().record; }

    void append(const MessageRecord& record);
    void removeLast();
    void reset(const QList<MessageRecord>& records);

    /// The last message grows.
    void appendText(const QString& text);
    /// The whole text of the last message. What is shown stays when the new text only goes on from it.
    void setLastText(const QString& text);
    /// The last message gets a new state; its text stays. A state other than Pending and Streaming completes
    /// it.
    void updateLast(MessageStatus::Value status, const AnswerRecord& answer);

    void retranslate();  ///< texts of this model were made in another language

  private:
    struct DeleteLater {
        void operator()(QObject* object) const { object->deleteLater(); }  // delegates may still look at it
    };
    struct Row {
        MessageRecord record;
        mutable std::unique_ptr<BlockModel, DeleteLater> blocks = nullptr;  ///< made when first asked for
    };

    static BlockModel* blocksOf(const Row& row);
    void lastChanged(const QList<int>& roles);

    std::vector<Row> m_rows;
};

}  // namespace glmchat
