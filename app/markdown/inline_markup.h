#pragma once

#include <QString>
#include <QStringView>

namespace glmchat::markdown {

/// Builds the inline text of a block twice: as plain text, and as markup of a closed set of tags that we
/// write ourselves: <b> <i> <s> <code> <br> <a href="…">. All text is escaped, so nothing of the source is
/// ever read as a tag.
class InlineMarkup {
  public:
    void text(QStringView text);
    void code(QStringView text);
    void lineBreak();
    void open(QStringView tag);  ///< tag: "b", "i" or "s"
    void close(QStringView tag);
    /// A link whose scheme is not http, https or mailto is no link, only its text.
    void openLink(const QString& target);
    void closeLink();

    bool isEmpty() const { return m_plain.trimmed().isEmpty(); }
    bool hasOpenTags() const { return m_depth > 0; }
    const QString& plain() const { return m_plain; }
    const QString& markup() const { return m_markup; }
    void trim();  ///< drops line breaks at the end
    void clear() { *this = {}; }

  private:
    QString m_plain;
    QString m_markup;
    int m_depth = 0;
    bool m_linkIsShown = false;
};

}  // namespace glmchat::markdown
