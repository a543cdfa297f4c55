#pragma once

#include <QAbstractListModel>

#include <QtQml/qqmlregistration.h>

#include "app/chat/block_splitter.h"

namespace glmchat {

/// The blocks of one message, one row each. Rows are only ever added, and only the last one changes. GUI
/// thread.
class BlockModel : public QAbstractListModel {
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by MessageModel")

  public:
    enum Role {
        KindRole = Qt::UserRole + 1,  ///< BlockKind::Value
        TextRole,                     ///< plain text
        LanguageRole,                 ///< of a code block; may be ""
        OpenRole,                     ///< may still grow
        ContinuedRole,                ///< goes on with the paragraph in the row before: no gap between them
    };

    explicit BlockModel(QObject* parent = nullptr) : QAbstractListModel(parent) {}

    int rowCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QHash<int, QByteArray> roleNames() const override;

    void append(const QString& text);
    void finish();  ///< the text is complete

  private:
    void announce(qsizetype oldLastLength);
    qsizetype lastLength() const;

    BlockSplitter m_splitter;
    int m_rowCount = 0;  ///< rows announced so far
};

}  // namespace glmchat
